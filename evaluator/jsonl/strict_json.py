"""Slow, exact checks of one line of JSON, for errors that msgspec accepts.

msgspec checks the types of records, but it keeps the last of two equal keys, skips unknown keys, and accepts NUL and
very large integers. Readers use this module only for lines where counting keys cannot rule these errors out.
"""

import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from evaluator.errors import shown

_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_MAX_INTEGER = int(sys.float_info.max)
_CONTAINERS = frozenset({dict, list})
_CONSTANTS = ("NaN", "Infinity", "-Infinity")


class LineError(Exception):
    """A line breaks a rule of the format.

    what: what is wrong with the line. found, expected: what the line has, and what the rule demands; may be empty.
    """

    def __init__(self, what: str, found: str = "", expected: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.found = found
        self.expected = expected

    @property
    def is_syntax(self) -> bool:
        """True if the line is not JSON, for example because it is incomplete; False for NaN, Infinity and other broken
        rules.
        """
        return self.what == "not valid JSON" and self.found not in _CONSTANTS


def not_utf8(line: bytes) -> LineError:
    """Return the error of a line that is not UTF-8, with its first invalid byte. Raises ValueError if it is UTF-8."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"0x{line[error.start]:02x} at byte {error.start + 1} of the line"
        return LineError("not UTF-8", found, "UTF-8 text")
    raise ValueError("the line is UTF-8")


@dataclass(frozen=True)
class Schema:
    """The keys that a format names at one level of nesting.

    names: these keys. nested: key whose value is an object or a list of objects -> the schema of these objects. free:
    True if any key is allowed, as in gold's `slices`.
    """

    names: frozenset[str]
    nested: Mapping[str, "Schema"] = field(default_factory=dict)
    free: bool = False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise LineError("duplicate key", shown(key), "each key once in an object")
            seen.add(key)
    return result


def _constant(name: str) -> NoReturn:
    raise LineError("not valid JSON", name, "a finite number: JSON has no NaN and no Infinity")


_NUMBERS = f"a number from {-sys.float_info.max:.4g} to {sys.float_info.max:.4g}"
_LONGEST_SHOWN = 40


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        found = text if len(text) <= _LONGEST_SHOWN else f"a number of {len(text)} characters"
        raise LineError("number beyond float64", found, _NUMBERS)
    return value


def _integer(text: str) -> int:
    if len(text) > 320 or abs(int(text)) > _MAX_INTEGER:
        raise LineError("number beyond float64", f"an integer of {len(text.lstrip('-'))} digits", _NUMBERS)
    return int(text)


_PLAIN = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
_CAREFUL = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer)


def unknown_keys(line: bytes, shape: Schema, depth: int) -> set[str]:
    """Return the keys of the line that the format does not name, at any level.

    shape: the keys that the format names. depth: the maximum nesting depth. Raises LineError if the line is not strict
    JSON, or is nested too deeply.
    """
    text = line.decode("utf-8")
    if b"\\u" in line:
        _check_escapes(line)
    decoder = _CAREFUL if may_hold_long_digits(line) else _PLAIN
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise LineError(
            "not valid JSON", f"{error.msg.removesuffix(' at')} at column {error.colno}", "one JSON object"
        ) from None
    except RecursionError:
        raise _too_deep(depth) from None
    unknown: set[str] = set()
    if type(value) in _CONTAINERS:
        _walk(value, shape, 1, depth, unknown)
    return unknown


def _too_deep(depth: int) -> LineError:
    return LineError("nested too deeply", f"more than {depth} levels", f"at most {depth} levels")


def _walk(value: Any, shape: Schema | None, level: int, depth: int, unknown: set[str]) -> None:
    """Add to `unknown` the keys inside `value` that the format does not name.

    value: an object or a list at nesting depth `level`. shape: the keys that the format names there; None: any key is
    allowed. depth: the maximum of `level`. Raises LineError if `level` exceeds it.
    """
    if level > depth:
        raise _too_deep(depth)
    if type(value) is list:
        for item in value:
            if type(item) in _CONTAINERS:
                _walk(item, shape, level + 1, depth, unknown)
        return
    if shape is not None and not shape.free and not value.keys() <= shape.names:
        unknown.update(value.keys() - shape.names)
    for key, item in value.items():
        if type(item) in _CONTAINERS:
            _walk(item, shape.nested.get(key) if shape is not None else None, level + 1, depth, unknown)


def may_hold_long_digits(text: bytes) -> bool:
    """Return True if the text may contain a number of over 308 digits, which float64 cannot hold without an exponent.

    Every hundredth byte is sampled; such a number covers three consecutive samples.
    """
    if len(text) < 309:
        return False
    sample = np.frombuffer(text, dtype=np.uint8)[::100]
    digit = (sample >= 0x30) & (sample <= 0x39)
    starts = np.flatnonzero(digit[:-2] & digit[1:-1] & digit[2:]) * 100
    return any(text[start : start + 201].isdigit() for start in starts.tolist())


def _check_escapes(line: bytes) -> None:
    high_end = -1  # end of a high surrogate's escape; the low surrogate must start there
    for match in _ESCAPE.finditer(line):
        code = int(match[1], 16) if match[1] else -1
        is_low = 0xDC00 <= code <= 0xDFFF
        if (high_end >= 0) != is_low or (is_low and match.start() != high_end):
            break
        high_end = match.end() if 0xD800 <= code <= 0xDBFF else -1
        if code == 0:
            raise LineError("NUL in a string", "\\u0000", "text without NUL")
    else:
        if high_end < 0:
            return
    raise LineError("lone surrogate in a string", "half of a surrogate pair", "complete characters")
