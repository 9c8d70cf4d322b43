"""Measures that organisers declare for a custom scorer: names, bounds and direction, and means of per-unit values."""

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
"""Columns of a board that are not measures."""


class MeasureDeclaration(msgspec.Struct, forbid_unknown_fields=True):
    """A measure that organisers declare for their scorer.

    lower, upper: the smallest and the largest possible value, None if unbounded. higher_is_better: None if the measure
    has no direction.
    """

    name: str
    title: str
    doc: str
    lower: float | None
    upper: float | None
    higher_is_better: bool | None


@dataclass(frozen=True, kw_only=True)
class Mean(Ratio):
    """A measure whose value is the mean of the per-unit values; units without a value do not count."""

    def values(self, sample: Sample) -> Numbers:
        # Rounding may put a mean just outside the bounds that all its terms respect.
        return np.clip(super().values(sample), self.low, self.high)


def check_declaration(declaration: object, primary: str) -> list[MeasureDeclaration]:
    """Return the declared measures of a custom scorer, checked, in their order.

    declaration: the measures as decoded JSON. primary: the name of the measure that ranks. Raises UsageError naming the
    invalid measure, the value and what was expected.
    """
    try:
        measures = msgspec.convert(declaration, list[MeasureDeclaration])
    except msgspec.ValidationError as error:
        raise UsageError(f"the measures do not fit their schema: {error}") from None
    if not 1 <= len(measures) <= MOST:
        raise UsageError(f"{len(measures)} measures are declared, expected 1 to {MOST}")
    names = [measure.name for measure in measures]
    for measure in measures:
        _check(measure)
        if names.count(measure.name) > 1:
            raise UsageError(f"the measure {shown(measure.name)} is declared twice, expected each name once")
    if primary not in names:
        raise UsageError(f"the primary measure is {shown(primary)}, expected one of: {', '.join(names)}")
    if measures[names.index(primary)].higher_is_better is None:
        raise UsageError(f"the primary measure {primary} has no direction, expected higher_is_better true or false")
    return measures


def _check(measure: MeasureDeclaration) -> None:
    if not _NAME.fullmatch(measure.name) or measure.name in _RESERVED:
        raise UsageError(
            f"a measure's name is {shown(measure.name)}, expected at most 60 characters of a-z, 0-9 and _, starting "
            f"with a letter, and none of: {', '.join(sorted(_RESERVED))}"
        )
    for field, most in (("title", 100), ("doc", 1000)):
        text = getattr(measure, field)
        if not text.strip() or len(text) > most:
            raise UsageError(
                f"the {field} of {measure.name} has {len(text)} characters, expected 1 to {most}, not only spaces"
            )
    low, high = bounds(measure)
    if not low < high:
        raise UsageError(f"the bounds of {measure.name} are {low} and {high}, expected lower < upper")


def bounds(measure: MeasureDeclaration) -> tuple[float, float]:
    """Return (the smallest, the largest) possible value of a declared measure, infinite where it is unbounded."""
    low = -math.inf if measure.lower is None else measure.lower
    return low, math.inf if measure.upper is None else measure.upper


def presence_statistic(name: str) -> str:
    """Return the name of the column of outcomes that is 1 for units that have a value of this measure, else 0."""
    return f"has {name}"


def measures_of(declaration: Sequence[MeasureDeclaration]) -> tuple[Mean, ...]:
    """Return the declared measures as objects like those of built-in tasks: means of per-unit values.

    For each measure the outcomes must have two statistics: one with the measure's name, which has each unit's value,
    and one with the name that `presence_statistic` gives.
    """
    means = []
    for measure in declaration:
        low, high = bounds(measure)
        units = statistic(presence_statistic(measure.name))
        means.append(
            Mean(
                name=measure.name,
                title=measure.title,
                doc=measure.doc,
                source="this benchmark's organisers",
                units=units,
                numerator=statistic(measure.name),
                denominator=units,
                low=low,
                high=high,
                higher_is_better=measure.higher_is_better,
            )
        )
    return tuple(means)
