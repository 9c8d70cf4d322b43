"""Reading of files that may be compressed with gzip, within limits. A file is decompressed if its name ends in .gz."""

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from evaluator.errors import ProblemList, UsageError, shown
from evaluator.jsonl.other_formats import HEAD, refuse_binary, refuse_packed

CHUNK = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
VARIABLE = "HOLDOUT_MAX_FILE_MB"
LINES_PER_MB = 10_000
"""Most lines for each megabyte that a file may have: time and memory grow with both."""


def _max_file_mb() -> int:
    """Return the value of VARIABLE, 200 if it is not set. Raises UsageError unless it is a whole number, 1 or more."""
    text = os.environ.get(VARIABLE, "200")
    try:
        limit = int(text)
    except ValueError:
        limit = 0
    if limit < 1:
        raise UsageError(f"{VARIABLE} is {shown(text)}, expected a whole number, 1 or more")
    return limit


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits on one file.

    file_bytes, lines: the maximum numbers of bytes and lines, after decompression; their defaults follow from the
    environment variable HOLDOUT_MAX_FILE_MB (in megabytes). members: the maximum number of gzip members; bgzip writes
    one per 64 KiB, which makes 3,100 in a file of 200 MB. line_bytes: the maximum number of bytes of a line. depth: the
    maximum nesting depth of JSON objects and lists on a line.

    There is no limit on the compression ratio: equal lines, which are valid predictions, compress to a thousandth, and
    a small file takes no more time or memory than a large one with the same content.
    """

    file_bytes: int = _max_file_mb() * 1_000_000
    members: int = 10_000
    lines: int = _max_file_mb() * LINES_PER_MB
    line_bytes: int = 1 << 20
    depth: int = 16


def is_packed(name: str) -> bool:
    """Return True if a file is compressed with gzip according to its name, which then ends in .gz or .GZ."""
    return name.lower().endswith(".gz")


def chunks(stream: BinaryIO, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks, decompressed with gzip if the file's name (`problems.file`) ends in .gz.

    Raises `problems.error` if the file exceeds the limits, if its gzip data is damaged or incomplete, or if it is
    compressed without a name that ends in .gz, twice, or in another way than with gzip.
    """
    packed = is_packed(problems.file)
    total = 0
    for chunk in _gunzipped(stream, limits, problems) if packed else _plain(stream):
        if total == 0 and chunk.startswith(_GZIP_MAGIC):
            expected = "data that is compressed only once" if packed else "a name that ends in .gz, or plain text"
            problems.stop(None, "the file is compressed", "gzip data", expected)
        if total == 0 and not problems.file.lower().endswith(".xlsx"):
            refuse_packed(chunk[:HEAD], problems)
        total += len(chunk)
        if total > limits.file_bytes:
            problems.stop(
                None, "the file is too large", f"over {limits.file_bytes} bytes", f"at most {limits.file_bytes} bytes"
            )
        yield chunk


def _plain(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _gunzipped(stream: BinaryIO, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    consumed = produced = members = 0
    member = zlib.decompressobj(wbits=31)
    begun = False  # True once the current member has received a byte
    for packed in _plain(stream):
        if consumed == 0 and not packed.startswith(_GZIP_MAGIC[: len(packed)]):
            refuse_binary(packed[:HEAD], problems)
            expected = "gzip data, or a name that does not end in .gz"
            problems.stop(None, "the file is not compressed, although its name ends in .gz", "", expected)
        consumed += len(packed)
        data = packed
        while data:
            if not begun:
                # Tools for RFC 1952 allow zero padding after a member.
                data = data.lstrip(b"\0") if consumed > len(packed) or produced else data
                if not data:
                    break
                begun = True
                members += 1
                # Empty members pass all other limits, and each takes processor time.
                if members > limits.members:
                    limit = str(limits.members)
                    problems.stop(None, "the file has too many gzip members", f"over {limit}", f"at most {limit}")
            try:
                out = member.decompress(data, CHUNK)
            except zlib.error:
                problems.stop(None, "the file cannot be decompressed", "damaged gzip data", "a gzip file")
            produced += len(out)
            if out:
                yield out
            if member.eof:
                data = member.unused_data
                member = zlib.decompressobj(wbits=31)
                begun = False
            else:
                data = member.unconsumed_tail
    if begun:
        problems.stop(None, "the file cannot be decompressed", "gzip data that ends too early", "a complete gzip file")
