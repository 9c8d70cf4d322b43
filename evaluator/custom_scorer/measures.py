"""Measures that organisers declare for a scorer of their own: names, bounds and direction, and a mean where they give
values unit by unit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from evaluator.errors import UsageError, shown
from evaluator.measures.base import Ratio, statistic
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Sample

MOST = 50
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_RESERVED = {"rank", "system", "team", "date", "received_at", "released_at"}
"""Columns of a board that are no measures."""


class Declared(msgspec.Struct, forbid_unknown_fields=True):
    """One measure. lower, upper: its bounds, None where it has none. higher_is_better: None where it is neither."""

    name: str
    title: str
    doc: str
    lower: float | None
    upper: float | None
    higher_is_better: bool | None


@dataclass(frozen=True, kw_only=True)
class Mean(Ratio):
    """The mean of the values that a scorer gave; units without one do not count."""

    def values(self, sample: Sample) -> Numbers:
        # A sum's last bit may lie beyond a bound that all its terms keep.
        return np.clip(super().values(sample), self.low, self.high)


def declared(given: object, primary: str) -> list[Declared]:
    """The declaration, checked; raises UsageError that says which measure is wrong, what was found and expected."""
    try:
        measures = msgspec.convert(given, list[Declared])
    except msgspec.ValidationError as error:
        raise UsageError(f"the measures do not fit their schema: {error}") from None
    if not 1 <= len(measures) <= MOST:
        raise UsageError(f"{len(measures)} measures are declared, expected 1 to {MOST}")
    names = [measure.name for measure in measures]
    for measure in measures:
        _check(measure)
        if names.count(measure.name) > 1:
            raise UsageError(f"the measure {shown(measure.name)} is declared twice")
    if primary not in names:
        raise UsageError(f"the primary measure is {shown(primary)}, expected one of: {', '.join(names)}")
    if measures[names.index(primary)].higher_is_better is None:
        raise UsageError(f"the primary measure {primary} has no direction, expected higher_is_better true or false")
    return measures


def _check(measure: Declared) -> None:
    if not _NAME.fullmatch(measure.name) or measure.name in _RESERVED:
        raise UsageError(
            f"a measure's name is {shown(measure.name)}, expected a-z, 0-9 and _ from a letter on, at most 60, and "
            f"none of: {', '.join(sorted(_RESERVED))}"
        )
    for field, most in (("title", 100), ("doc", 1000)):
        text = getattr(measure, field)
        if not text.strip() or len(text) > most:
            raise UsageError(f"the {field} of {measure.name} has {len(text)} characters, expected 1 to {most}")
    low, high = bounds(measure)
    if not low < high:
        raise UsageError(f"the bounds of {measure.name} are {low:g} and {high:g}, expected a lower and an upper one")


def bounds(measure: Declared) -> tuple[float, float]:
    """Infinite where there is none."""
    low = -math.inf if measure.lower is None else measure.lower
    return low, math.inf if measure.upper is None else measure.upper


def present(name: str) -> str:
    """The statistic that is 1 where a unit has a value of the measure."""
    return f"has {name}"


def measures_of(declaration: Sequence[Declared]) -> tuple[Mean, ...]:
    """As the referee's own measures are: over outcomes with the statistics `name` and `has name`."""
    made = []
    for one in declaration:
        low, high = bounds(one)
        units = statistic(present(one.name))
        made.append(
            Mean(
                name=one.name,
                title=one.title,
                doc=one.doc,
                source="this benchmark's organisers",
                units=units,
                numerator=statistic(one.name),
                denominator=units,
                low=low,
                high=high,
                higher_is_better=one.higher_is_better,
            )
        )
    return tuple(made)
