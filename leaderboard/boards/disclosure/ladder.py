"""The arithmetic of a ladder: values on a coarse grid, and when the next one may be shown.

Blum & Hardt 2015: who is told a score only when it beats the best one told by more than chance would learns next to
nothing of the test from the answers that he gets. The grid is the part that keeps digits from telling more: a shown
value is rounded towards the worse, so that it never says more than was reached.
"""

from __future__ import annotations

import math
from typing import Protocol

SLACK = 1e-9
"""Of a step: a value that is a multiple of it on paper lies on the grid, whatever its last bit."""
DIGITS = 12
"""As values are cut everywhere."""


class Bounded(Protocol):
    """What a ladder needs of a measure."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def higher_is_better(self) -> bool | None: ...


def step(measure: Bounded, n_groups: int | None) -> float | None:
    """The measure's range / sqrt(groups): twice the standard error that a share has at most, 1/sqrt(groups) for it.

    None where no grid protects: without bounds, or where groups were not counted.
    """
    width = measure.high - measure.low
    return width / math.sqrt(n_groups) if n_groups and math.isfinite(width) else None


def step_of_share(n_groups: int) -> str:
    """The step of a measure between 0 and 1, in three digits: `0.0158`."""
    return f"{1 / math.sqrt(n_groups):.3g}"


def rungs(value: float, *, measure: Bounded, n_groups: int | None) -> int | None:
    """How many whole steps the value is better than the measure's worst; None: it has no grid."""
    size = step(measure, n_groups)
    if size is None:
        return None
    gained = measure.high - value if measure.higher_is_better is False else value - measure.low
    return math.floor(gained / size + SLACK)


def shown(value: float, *, measure: Bounded, n_groups: int | None) -> float | None:
    """The value as the grid has it, never better than it is; None: it has no grid."""
    size, count = step(measure, n_groups), rungs(value, measure=measure, n_groups=n_groups)
    if size is None or count is None:
        return None
    on_grid = measure.high - count * size if measure.higher_is_better is False else measure.low + count * size
    return round(on_grid, DIGITS)


def beats(value: float | None, best: float | None, *, measure: Bounded) -> bool:
    """Whether a value on the grid may be shown after `best`, the best one that was: it is at least a step better."""
    if value is None or best is None:
        return value is not None
    # Both lie on the grid, so what is better at all is better by a step.
    return value < best if measure.higher_is_better is False else value > best
