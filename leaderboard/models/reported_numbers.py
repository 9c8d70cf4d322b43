"""Values of a result that a paper reports, and their validation, shared by forms, API and imports."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from evaluator.tasks.registry import TASKS

LONGEST_SHOWN = 40
"""Maximum characters of a printed number, enough for an interval, a star and a unit."""
EXAMPLE = '[{"measure": "accuracy", "slice": {}, "value": 0.583, "shown": "58.3"}]'


class Value(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One number reported in a paper: `value` in the unit of the measure, `shown` as the paper prints it.

    slice: the units on which the system was measured, as dimension -> value; `{}` means all units.
    """

    measure: str
    value: float
    shown: str
    slice: dict[str, str | int | float | bool] = {}


def check(payload: Any, *, task: str | None) -> list[Value]:
    """Parse and validate the values of a reported result from decoded JSON.

    task: name of the task whose measures are allowed; None or an unknown task: every measure is allowed. Raises
    ValueError for invalid values; the message says what was found and expected.
    """
    try:
        values = msgspec.convert(payload, list[Value])
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}; expected values such as {EXAMPLE}") from None
    if not values:
        raise ValueError(f"there are no values; expected values such as {EXAMPLE}")
    known = {measure.name for measure in TASKS[task].measures} if task is not None and task in TASKS else set()
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for value in values:
        if known and value.measure not in known:
            raise ValueError(f"measure is {value.measure!r}; expected one of {', '.join(sorted(known))}")
        numbers = (value.value, *value.slice.values())
        if not all(_is_finite(number) for number in numbers if not isinstance(number, str)):
            raise ValueError(f"{value.measure} has a number that is not finite; expected values such as {EXAMPLE}")
        if not _is_text("".join((value.measure, value.shown, *map(str, value.slice), *map(str, value.slice.values())))):
            raise ValueError(
                "the name of a measure, a slice or a printed number contains a lone surrogate or NUL; "
                f"expected values such as {EXAMPLE}"
            )
        if len(value.shown) > LONGEST_SHOWN:
            problem = f"{value.measure} has a printed number of {len(value.shown):,} characters"
            raise ValueError(f"{problem}; expected at most {LONGEST_SHOWN}")
        # Boards render 1 and "1" in the same way, so they are one slice.
        slice_ = sorted(
            (name, text if isinstance(text, str) else json.dumps(text)) for name, text in value.slice.items()
        )
        key = value.measure, tuple(slice_)
        if key in seen:
            raise ValueError(
                f"{value.measure} occurs twice for the slice {value.slice}; expected each measure once for each slice"
            )
        seen.add(key)
    return values


def _is_finite(number: float) -> bool:
    """Return whether a number can be converted to a finite float64.

    A huge integer cannot: PostgreSQL returns the JSON number 1e999 as an integer of a thousand digits.
    """
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _is_text(text: str) -> bool:
    """Return whether a text has no lone surrogates and no NUL, which JSON allows but pages and databases do not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
