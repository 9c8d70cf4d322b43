"""UTF-8 text by lines, in blocks of a mebibyte: as strict as `evaluator.jsonl.reader`, without JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from evaluator.errors import ProblemList
from evaluator.jsonl.decompress import ReadLimits, chunks

LIMITS = ReadLimits(file_bytes=1 << 40, ratio=1100, lines=1 << 40)
"""What a curator's own file may be: of any length, packed as tightly as gzip can."""

_BOM = b"\xef\xbb\xbf"


def text_blocks(stream: BinaryIO, problems: ProblemList, expected: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, lines without their ends). A block ends before a line at fault, which is noted in
    `problems` and left out.

    expected: what an empty file lacks. Raises the list's error where reading on makes no sense.
    """
    number = 1
    for block in _whole_lines(stream, problems):
        if number == 1 and block.startswith(_BOM):
            problems.stop(1, "the file begins with a byte order mark", "EF BB BF", "UTF-8 without it")
        text = _plain(block)
        if text is not None:
            lines = text.split("\n")
            yield number, lines
            number += len(lines)
            continue
        for line in block.split(b"\n"):
            if (text := _line(line, number, problems)) is not None:
                yield number, [text]
            number += 1
    if number == 1:
        problems.stop(None, "the file is empty", "0 bytes", expected)


def _whole_lines(stream: BinaryIO, problems: ProblemList) -> Iterator[bytes]:
    """Some lines at a time, without the last one's end."""
    rest: list[bytes] = []
    held = 0
    for chunk in chunks(stream, LIMITS, problems):
        whole, newline, begun = chunk.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, whole])
            rest, held = [], 0
        rest.append(begun)
        held += len(begun)
        if held > LIMITS.line_bytes:
            problems.stop(None, "a line is too long", f"over {LIMITS.line_bytes} bytes", f"at most {LIMITS.line_bytes}")
    if held:
        yield b"".join(rest)


def _plain(block: bytes) -> str | None:
    """The text, unless something in it needs a look at each line."""
    if b"\0" in block or (b"\r" in block and b"\r" in block.replace(b"\r\n", b"\n").removesuffix(b"\r")):
        return None
    try:
        return block.replace(b"\r\n", b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError:
        return None


def _line(raw: bytes, number: int, problems: ProblemList) -> str | None:
    line = raw.removesuffix(b"\r")
    if b"\0" in line:
        problems.add(number, "NUL byte", f"at byte {line.index(0) + 1} of the line", "text without NUL")
    elif b"\r" in line:
        problems.add(number, "a carriage return alone", "CR without LF", "lines that end in LF or CRLF")
    else:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = f"0x{line[error.start]:02x} at byte {error.start + 1} of the line"
            problems.add(number, "not UTF-8", byte, "UTF-8 text")
    return None
