"""What a paper prints of a system: the numbers of a reported row, and the one check that all ways in share."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from evaluator.tasks.registry import TASKS

LONGEST_SHOWN = 40
"""Characters of a printed number: with an interval, a star and a unit it is no longer."""
EXAMPLE = '[{"measure": "accuracy", "slice": {}, "value": 0.583, "shown": "58.3"}]'


class Value(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One printed number: `value` in the measure's own unit, `shown` as the paper prints it.

    slice: a value for each of its dimensions; `{}` is the whole.
    """

    measure: str
    value: float
    shown: str
    slice: dict[str, str | int | float | bool] = {}


def check(given: Any, *, task: str | None) -> list[Value]:
    """The numbers of a row, from what JSON made of them. task: whose measures they may be; None: not known yet.

    Raises ValueError, with what was found and what was expected.
    """
    try:
        values = msgspec.convert(given, list[Value])
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}; expected such as {EXAMPLE}") from None
    if not values:
        raise ValueError(f"there is no number; expected such as {EXAMPLE}")
    known = {measure.name for measure in TASKS[task].measures} if task is not None and task in TASKS else set()
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for value in values:
        if known and value.measure not in known:
            raise ValueError(f"measure is {value.measure!r}; expected one of {', '.join(sorted(known))}")
        numbers = (value.value, *value.slice.values())
        if not all(_is_finite(number) for number in numbers if not isinstance(number, str)):
            raise ValueError(f"{value.measure} has a number that is not finite; expected such as {EXAMPLE}")
        if not _is_text("".join((value.measure, value.shown, *map(str, value.slice), *map(str, value.slice.values())))):
            raise ValueError(f"a text holds half a character or NUL; expected such as {EXAMPLE}")
        if len(value.shown) > LONGEST_SHOWN:
            told = f"{value.measure} is shown in {len(value.shown):,} characters"
            raise ValueError(f"{told}; expected at most {LONGEST_SHOWN}")
        # As boards write a slice: 1 and "1" are one cell.
        slice_ = sorted((name, one if isinstance(one, str) else json.dumps(one)) for name, one in value.slice.items())
        cell = value.measure, tuple(slice_)
        if cell in seen:
            raise ValueError(f"{value.measure} stands twice for one slice; expected each number once")
        seen.add(cell)
    return values


def _is_finite(number: float) -> bool:
    """Whether it is a float64: PostgreSQL writes 1e999 out, as a whole number of a thousand digits."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _is_text(text: str) -> bool:
    """Whether it can be written: JSON may name half of a surrogate pair, and no page or database takes that or NUL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
