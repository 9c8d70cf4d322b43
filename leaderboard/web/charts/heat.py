"""The heat table's shades: a class for each level, so that a page needs no inline style."""

from __future__ import annotations

import math

from evaluator.measures import Measure

LEVELS = 10


def level(value: float | None, measure: Measure) -> int | None:
    """0 (worst) to LEVELS (best) between the measure's bounds; None for no value or an endless scale."""
    if value is None or not (math.isfinite(measure.low) and math.isfinite(measure.high)):
        return None
    share = (value - measure.low) / (measure.high - measure.low)
    if measure.higher_is_better is False:
        share = 1.0 - share
    return round(min(1.0, max(0.0, share)) * LEVELS)
