"""The Ladder mechanism: round scores to a coarse grid, and decide when the next one may be shown.

Blum & Hardt 2015: if a score is revealed only when it beats the best revealed one by more than chance would, the
revealed scores leak next to nothing about the test set. The grid keeps the digits from leaking more: shown values are
rounded towards the worse, so they never overstate the score.
"""

from __future__ import annotations

import math
from typing import Protocol

SLACK = 1e-9
"""Tolerance, as a fraction of a step: exact multiples of the step stay on the grid despite floating-point error."""
DIGITS = 12
"""Decimals of shown values, the same as everywhere."""


class Bounded(Protocol):
    """The attributes of a measure that a ladder uses."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def higher_is_better(self) -> bool | None: ...


def step(measure: Bounded, n_groups: int | None) -> float | None:
    """Return the grid's step, range / sqrt(n_groups); for a proportion this is twice its largest standard error.

    None if there is no grid: the measure has no bounds, or groups were not counted.
    """
    width = measure.high - measure.low
    return width / math.sqrt(n_groups) if n_groups and math.isfinite(width) else None


def step_of_share(n_groups: int) -> str:
    """Format the step of a measure between 0 and 1 with three digits: `0.0158`."""
    return f"{1 / math.sqrt(n_groups):.3g}"


def rungs(value: float, *, measure: Bounded, n_groups: int | None) -> int | None:
    """Return the number of whole steps above the measure's worst value; None if it has no grid."""
    size = step(measure, n_groups)
    if size is None:
        return None
    gained = measure.high - value if measure.higher_is_better is False else value - measure.low
    return math.floor(gained / size + SLACK)


def shown(value: float, *, measure: Bounded, n_groups: int | None) -> float | None:
    """Round the value to the grid, towards the worse; None if the measure has no grid."""
    size, count = step(measure, n_groups), rungs(value, measure=measure, n_groups=n_groups)
    if size is None or count is None:
        return None
    on_grid = measure.high - count * size if measure.higher_is_better is False else measure.low + count * size
    return round(on_grid, DIGITS)


def beats(value: float | None, best: float | None, *, measure: Bounded) -> bool:
    """Return True if `value` is at least a step better than `best`, the best one shown; both are on the grid."""
    if value is None or best is None:
        return value is not None
    # Both values are on the grid, so any improvement is at least a step.
    return value < best if measure.higher_is_better is False else value > best
