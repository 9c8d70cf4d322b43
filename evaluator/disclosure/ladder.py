"""The Ladder mechanism: scores are rounded to a coarse grid, and revealed only if they beat the best revealed one.

Blum & Hardt 2015: if a score is revealed only when it beats the best revealed score by more than chance would explain,
the revealed scores leak next to nothing about the test set. Rounding to the grid keeps the digits of a revealed score
from leaking more. Values are rounded towards the measure's worst value, so they never overstate the score.

`reveal` decides which scores a ladder shows; `policy` says what else it hides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from evaluator.disclosure.rounding import Bounded

SLACK = 1e-9
"""Tolerance, as a fraction of a step: exact multiples of the step stay on the grid despite floating-point error."""
DIGITS = 12
"""Decimals to which a value on the grid is rounded, to remove floating-point noise."""
Scores = list[dict[str, Any]]
"""A run's scores: dicts with the keys measure, slice, value, low, high, n and n_groups (None: unknown)."""
MeasureOf = Callable[[str], Bounded]
PUBLISHED = ("measure", "slice", "value", "low", "high", "n")


def reveal(scores: Scores, *, primary: str, measure_of: MeasureOf, best: float | None, competes: bool = True) -> Scores:
    """Return the scores to show, rounded to the grid and without intervals; [] if the primary value is no improvement.

    primary: name of the primary measure. measure_of: function from a measure's name to the measure. best: the best
    primary value shown so far to the team, or to anybody, depending on the ladder's scope; None: no value has been
    shown; it need not be on the grid. competes: False for systems such as baselines, whose scores are always shown.
    """
    on_grid = [_on_grid(score, measure_of(score["measure"])) for score in scores]
    if competes:
        overall = [at for at, row in enumerate(on_grid) if row["measure"] == primary and not row["slice"]]
        measure = measure_of(primary)
        if not overall:
            return []
        n_groups = scores[overall[0]].get("n_groups")
        best = None if best is None else shown(best, measure=measure, n_groups=n_groups)
        if not beats(on_grid[overall[0]]["value"], best, measure=measure):
            return []
    return [score for score in on_grid if score["value"] is not None]


def step(measure: Bounded, n_groups: int | None) -> float | None:
    """Return the step of a measure's grid, (high - low) / sqrt(n_groups); None if there is no grid.

    n_groups: number of groups (resampling units) behind the score. For a proportion of n_groups independent units, the
    step is twice the largest possible standard error. There is no grid if the measure is unbounded or n_groups unknown.
    """
    width = measure.high - measure.low
    return width / math.sqrt(n_groups) if n_groups and math.isfinite(width) else None


def format_unit_step(n_groups: int) -> str:
    """Format the step of a measure between 0 and 1 with three significant digits: `0.0158`.

    n_groups: number of groups behind the score.
    """
    return f"{1 / math.sqrt(n_groups):.3g}"


def n_steps(value: float, *, measure: Bounded, n_groups: int | None) -> int | None:
    """Return the number of whole steps from the measure's worst value to `value`; None if the measure has no `step`.

    n_groups: number of groups behind the score; None: unknown.
    """
    size = step(measure, n_groups)
    if size is None:
        return None
    gained = measure.high - value if measure.higher_is_better is False else value - measure.low
    return math.floor(gained / size + SLACK)


def shown(value: float, *, measure: Bounded, n_groups: int | None) -> float | None:
    """Return `value` rounded to the grid, towards the measure's worst value; None if the measure has no `step`.

    n_groups: number of groups behind the score; None: unknown.
    """
    size, count = step(measure, n_groups), n_steps(value, measure=measure, n_groups=n_groups)
    if size is None or count is None:
        return None
    on_grid = measure.high - count * size if measure.higher_is_better is False else measure.low + count * size
    return round(on_grid, DIGITS)


class Bounds(NamedTuple):
    """The range of a true score behind a rounded one: at_least <= score <= at_most. None: no bound on that side.

    is_range: the measure can be negative or has no better direction, so that one bound alone would mislead.
    """

    at_least: float | None
    at_most: float | None
    is_range: bool = False

    def less(self, other: Bounds) -> Bounds:
        """Return the bounds of the difference of two scores: the one with these bounds minus the one with `other`."""
        low = None if None in (self.at_least, other.at_most) else self.at_least - other.at_most  # type: ignore[operator]
        high = None if None in (self.at_most, other.at_least) else self.at_most - other.at_least  # type: ignore[operator]
        return Bounds(_tidy(low), _tidy(high), is_range=True)

    def within(self, other: Bounds) -> Bounds:
        """Return the narrower bounds that follow if both these and the `other` bounds hold for one score."""
        lows = [low for low in (self.at_least, other.at_least) if low is not None]
        highs = [high for high in (self.at_most, other.at_most) if high is not None]
        return Bounds(max(lows, default=None), min(highs, default=None), self.is_range)


def bounds(value: float, *, measure: Bounded, n_groups: int | None) -> Bounds:
    """Return the bounds of the true score behind a score that was rounded to `value`.

    `value` itself is the bound on the side of the measure's worst value; the other bound is one step away.
    n_groups: number of groups behind the score; None: unknown, and then the other bound is None.
    """
    size = step(measure, n_groups)
    is_range = measure.low < 0 or measure.higher_is_better is None
    if measure.higher_is_better is False:
        return Bounds(None if size is None else _tidy(max(measure.low, value - size)), value, is_range)
    return Bounds(value, None if size is None else _tidy(min(measure.high, value + size)), is_range)


def _tidy(end: float | None) -> float | None:
    return None if end is None else round(end, DIGITS)


def beats(value: float | None, best: float | None, *, measure: Bounded) -> bool:
    """Return True if a score is at least one step better than the best score shown so far; both are on the grid.

    best None: no score has been shown, so any value beats it. value None: no score; it beats nothing.
    """
    if value is None or best is None:
        return value is not None
    # Both values are on the grid, so any improvement is at least a step.
    return value < best if measure.higher_is_better is False else value > best


def _on_grid(score: dict[str, Any], measure: Bounded) -> dict[str, Any]:
    value = score["value"]
    rounded = None if value is None else shown(value, measure=measure, n_groups=score.get("n_groups"))
    return {**{name: score[name] for name in PUBLISHED}, "value": rounded, "low": None, "high": None}
