"""Strict reader for JSON Lines of any task (see `docs/evaluator.md`) that preserves each line's bytes.

Generators that only partition lines write them unchanged: no number is rounded and no key moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import FileError, GoldError, ProblemList, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id
from evaluator.jsonl.other_formats import HEAD, refuse_other_formats
from evaluator.jsonl.strict_json import LineError, Schema, not_utf8, unknown_keys
from evaluator.jsonl.tables import first_line, line_chunks

_ANY = Schema(frozenset(), free=True)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line of a file.

    number: from 1, in a table from 2, below the header. raw: its bytes, without the line end. value: the parsed JSON
    object.
    """

    number: int
    raw: bytes
    value: dict[str, Any]


def read_lines(
    stream: BinaryIO, file: str, limits: ReadLimits | None = None, *, error: type[FileError] = GoldError
) -> tuple[list[RawLine], ProblemList]:
    """Return the valid lines and the problems of invalid ones; the caller adds further problems and raises them all.

    Raises `error` where reading cannot continue (an empty file, or a file over its limits). limits: None: the default
    limits.
    """
    limits = limits or ReadLimits()
    problems = ProblemList(file, error)
    lines: list[RawLine] = []
    first = first_line(problems)
    number = 0
    for number, raw in enumerate(_raw_lines(stream, limits, problems), first):
        if number - first >= limits.lines:
            problems.stop(None, "too many lines", f"over {limits.lines} lines", f"at most {limits.lines} lines")
        if number in problems.reported:
            continue
        try:
            lines.append(RawLine(number, raw, _object(raw, number, limits)))
        except LineError as problem:
            problems.add(number, problem.what, problem.found, problem.expected)
    if not number:
        problems.stop(None, "the file is empty", "0 bytes", "one JSON object per line")
    return lines, problems


def identifier(line: RawLine, key: str, problems: ProblemList, *, default: str = "") -> Id | None:
    """Return the string or integer under the key, or under the key `default` if the line lacks `key`.

    default: empty for no such key. Any other value is added to `problems`, and None is returned.
    """
    value = line.value.get(key, line.value.get(default) if default else None)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    present_key = key if key in line.value or not default else default
    problems.add(line.number, f"{key} is not valid", value_text(line.value, present_key), "a string or an integer")
    return None


def value_text(line: Mapping[str, Any], key: str) -> str:
    """Return the line's value under a key as text to quote in a problem's message; "no such key" if it is missing."""
    return shown(line[key]) if key in line else "no such key"


def of_one_type(lines: Sequence[RawLine], key: str, problems: ProblemList) -> None:
    """Add a problem unless the key's values are all strings or all integers, since 1 and "1" would be two ids.

    Other types of values are not checked.
    """
    first: type | None = None
    for line in lines:
        value = line.value.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int):
            continue
        first = first or type(value)
        if type(value) is not first:
            expected = "a string" if first is str else "an integer"
            problems.add(
                line.number,
                f"{key} has another type than on earlier lines",
                shown(value),
                f"{expected}, as on earlier lines",
            )
            return


def _raw_lines(stream: BinaryIO, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    rest = b""
    for index, chunk in enumerate(line_chunks(stream, limits, problems)):
        if index == 0:
            refuse_other_formats(chunk[:HEAD], problems)
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > limits.line_bytes:
            problems.stop(
                None, "a line is too long", f"over {limits.line_bytes} bytes", f"at most {limits.line_bytes} bytes"
            )
        yield from (line.removesuffix(b"\r") for line in whole)
    if rest:
        yield rest


def _object(raw: bytes, number: int, limits: ReadLimits) -> dict[str, Any]:
    if len(raw) > limits.line_bytes:
        raise LineError("the line is too long", f"over {limits.line_bytes} bytes", f"at most {limits.line_bytes} bytes")
    if number == 1 and raw.startswith(_BOM):
        raise LineError("the file begins with a byte order mark", "EF BB BF", "UTF-8 without a byte order mark")
    if not raw.strip(b" \t\r"):
        raise LineError("blank line", "no JSON", "one JSON object per line")
    if b"\r" in raw:
        raise LineError("a carriage return alone", "CR without LF", "lines that end in LF or CRLF")
    try:
        unknown_keys(raw, _ANY, limits.depth)
        value = msgspec.json.decode(raw)
    except UnicodeDecodeError:  # its position counts from the start of a string, not of the line
        raise not_utf8(raw) from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LineError("not valid JSON", str(error), "one JSON object") from None
    if not isinstance(value, dict):
        raise LineError("the line is not an object", shown(value), "one JSON object")
    return value


def with_key(raw: bytes, key: str, value: Id) -> bytes:
    """Return the JSON line with a key and its value inserted first.

    The object must have at least one key, and must not have this one.
    """
    begin = raw.index(b"{") + 1
    return raw[:begin] + msgspec.json.encode(key) + b": " + msgspec.json.encode(value) + b", " + raw[begin:].lstrip()
