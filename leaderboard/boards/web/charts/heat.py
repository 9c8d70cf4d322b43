"""Shades of heat tables: a CSS class for each level, so that pages need no inline styles.

A measure with a neutral value (a correlation of 0, an AUROC of 0.5) gets a diverging scale of two colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evaluator.measures.base import Measure

LEVELS = 10
CHANCE_LEVEL = {"auroc": 0.5}
"""Neutral value (chance level) by measure, for measures whose bounds do not imply it."""


def neutral(measure: Measure) -> float | None:
    """Return the neutral value of a measure; None if there is none between its bounds: its scale has one colour."""
    middle = CHANCE_LEVEL.get(measure.name, 0.0)
    return middle if measure.low < middle < measure.high else None


def fitted(measure: Measure, values: Iterable[float | None]) -> Measure:
    """Return the measure with the lowest and highest of these values as its bounds, so that a colour scale spans them.

    The bounds are rounded outwards to thousandths. Without values, the measure is returned unchanged.
    """
    known = [value for value in values if value is not None]
    if not known:
        return measure
    return replace(measure, low=math.floor(min(known) * 1000) / 1000, high=math.ceil(max(known) * 1000) / 1000)


def level(value: float | None, measure: Measure) -> int | None:
    """Return the level of a value: 0 (worst) to LEVELS (best); with a neutral value, -LEVELS to LEVELS, 0 for neutral.

    None without a value, or if the measure is unbounded.
    """
    if value is None or not _is_bounded(measure):
        return None
    middle = neutral(measure)
    if measure.low == measure.high:
        return LEVELS
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
    """Return the CSS class of a value's level; empty if the value has no level."""
    shade_level = level(value, measure)
    return "" if shade_level is None else _css_class(shade_level)


def _css_class(shade_level: int) -> str:
    return f"heat-{shade_level}" if shade_level >= 0 else f"warm-{-shade_level}"


def _is_bounded(measure: Measure) -> bool:
    return math.isfinite(measure.low) and math.isfinite(measure.high)


@dataclass(frozen=True)
class Legend:
    """A measure's scale from low to high. below, above: CSS classes of the shades on each side of the neutral value."""

    low: float
    neutral: float | None
    high: float
    below: Sequence[str]
    above: Sequence[str]


def legend(measure: Measure) -> Legend | None:
    """Return the legend of a measure; None if it is unbounded and so has no shades."""
    if not _is_bounded(measure):
        return None
    middle = neutral(measure)
    sign = -1 if measure.higher_is_better is False else 1
    if middle is None:
        return Legend(measure.low, None, measure.high, [], [_css_class(i) for i in range(LEVELS + 1)][::sign])
    below = [_css_class(sign * i) for i in range(-LEVELS, 0)]
    return Legend(measure.low, middle, measure.high, below, [_css_class(sign * i) for i in range(LEVELS + 1)])


def legends(measures: Sequence[Measure]) -> list[tuple[str, Legend]]:
    """Return the distinct legends, each with the comma-separated titles of its measures."""
    scales: list[tuple[list[str], Legend]] = []
    for measure in measures:
        scale = legend(measure)
        sharing = next((names for names, other in scales if other == scale), None)
        if sharing is not None:
            sharing.append(measure.title)
        elif scale is not None:
            scales.append(([measure.title], scale))
    return [(", ".join(names), scale) for names, scale in scales]
