"""Reader for UTF-8 lines in blocks of a mebibyte, as strict as `evaluator.jsonl.reader` but without JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from evaluator.errors import ProblemList
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.other_formats import HEAD, refuse_binary
from evaluator.jsonl.strict_json import not_utf8

LIMITS = ReadLimits(file_bytes=1 << 40, lines=1 << 40)
"""Limits for a curator's own files: any length."""

_BOM = b"\xef\xbb\xbf"


def text_blocks(stream: BinaryIO, problems: ProblemList, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield blocks: (number of the first line, lines without ends). Invalid lines are added to `problems` and skipped.

    expected: what the file should contain, for the message about an empty file. Raises the error class of `problems`
    where reading cannot continue.
    """
    number = 1
    for block in _whole_lines(stream, problems):
        if number == 1 and block.startswith(_BOM):
            problems.stop(1, "the file begins with a byte order mark", "EF BB BF", "UTF-8 without a byte order mark")
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
    """Yield blocks of whole lines, each without its last newline."""
    rest: list[bytes] = []
    n_bytes = 0
    started = False
    for chunk in chunks(stream, LIMITS, problems):
        if not started:
            refuse_binary(chunk[:HEAD], problems, "tab-separated text")
        started = True
        whole, newline, incomplete = chunk.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, whole])
            rest, n_bytes = [], 0
        rest.append(incomplete)
        n_bytes += len(incomplete)
        if n_bytes > LIMITS.line_bytes:
            problems.stop(
                None, "a line is too long", f"over {LIMITS.line_bytes} bytes", f"at most {LIMITS.line_bytes} bytes"
            )
    if n_bytes:
        yield b"".join(rest)


def _plain(block: bytes) -> str | None:
    """Return the block as text; None if it has an invalid line, so that its lines must be checked one by one."""
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
        except UnicodeDecodeError:
            problem = not_utf8(line)
            problems.add(number, problem.what, problem.found, problem.expected)
    return None
