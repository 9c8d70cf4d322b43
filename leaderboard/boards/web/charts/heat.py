"""Shades of heat tables: a class for each level, so that a page needs no inline style.

A measure with a value that says nothing (a correlation of 0, an AUROC of .5) gets two colours, one to either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.measures.base import Measure

LEVELS = 10
GUESSING = {"auroc": 0.5}
"""What guessing gives, for measures whose bounds do not tell it."""


def neutral(measure: Measure) -> float | None:
    """The value between good and bad; None: the scale has one colour."""
    if measure.name in GUESSING:
        return GUESSING[measure.name]
    return 0.0 if measure.low < 0.0 < measure.high else None


def level(value: float | None, measure: Measure) -> int | None:
    """0 (worst) to LEVELS (best) between the measure's bounds; with a neutral value that is 0, and the worst -LEVELS.

    None for no value or an endless scale.
    """
    if value is None or not _is_bounded(measure):
        return None
    middle = neutral(measure)
    if middle is None:
        share = (value - measure.low) / (measure.high - measure.low)
        if measure.higher_is_better is False:
            share = 1.0 - share
        return round(min(1.0, max(0.0, share)) * LEVELS)
    share = (value - middle) / (measure.high - middle if value >= middle else middle - measure.low)
    if measure.higher_is_better is False:
        share = -share
    return round(min(1.0, max(-1.0, share)) * LEVELS)


def shade(value: float | None, measure: Measure) -> str:
    """The class of a value's level; empty for none."""
    found = level(value, measure)
    return "" if found is None else _shade(found)


def _shade(found: int) -> str:
    return f"heat-{found}" if found >= 0 else f"warm-{-found}"


def _is_bounded(measure: Measure) -> bool:
    return math.isfinite(measure.low) and math.isfinite(measure.high)


@dataclass(frozen=True)
class Legend:
    """A measure's scale from its low to its high end: shades below and above the neutral value, where it has one."""

    low: float
    neutral: float | None
    high: float
    below: Sequence[str]
    above: Sequence[str]


def legend(measure: Measure) -> Legend | None:
    """None for an endless scale, which has no shades."""
    if not _is_bounded(measure):
        return None
    middle = neutral(measure)
    turn = -1 if measure.higher_is_better is False else 1
    if middle is None:
        return Legend(measure.low, None, measure.high, [], [_shade(i) for i in range(LEVELS + 1)][::turn])
    below = [_shade(turn * i) for i in range(-LEVELS, 0)]
    return Legend(measure.low, middle, measure.high, below, [_shade(turn * i) for i in range(LEVELS + 1)])


def legends(measures: Sequence[Measure]) -> list[tuple[str, Legend]]:
    """Each scale once, with the names of the measures that it is for."""
    scales: list[tuple[list[str], Legend]] = []
    for measure in measures:
        found = legend(measure)
        same = next((names for names, other in scales if other == found), None)
        if same is not None:
            same.append(measure.name)
        elif found is not None:
            scales.append(([measure.name], found))
    return [(", ".join(names), found) for names, found in scales]
