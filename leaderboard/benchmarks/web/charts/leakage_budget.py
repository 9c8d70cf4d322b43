"""Chart of a phase's leakage budget: the bound of what can be known of its hidden labels, by number of submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluator.disclosure.bits import USEFUL
from leaderboard.core.web.scale import Scale, covering
from leaderboard.scoring.queries.leakage_budget import FORECAST_ANSWERS, Budget

HEIGHT = 300
"""Height of the plot area in pixels; the width is the page's."""
POINTS = 100

Line = tuple[str, float, str, float]
"""A line segment x1, y1, x2, y2. x1 and x2 are SVG lengths, y1 and y2 pixels from the top."""


@dataclass(frozen=True)
class Mark:
    """A point of the bound. is_ahead: True for the forecast, False for the present state."""

    x: str
    y: float
    title: str
    is_ahead: bool


@dataclass(frozen=True)
class BudgetChart:
    """The drawing of a leakage budget.

    across: scale of the x axis. rungs: (y in pixels, label) of each tick of the y axis. curve: the bound so far.
    ahead: from the present bound to the forecast; None if there is no forecast. useful: the height from which on there
    is no useful bound. height: in pixels.
    """

    across: Scale
    rungs: Sequence[tuple[float, str]]
    curve: Sequence[Line]
    ahead: Line | None
    useful: float
    marks: Sequence[Mark]
    height: int = HEIGHT


def budget_chart(budget: Budget) -> BudgetChart | None:
    """Return the chart of a leakage budget; None before the first answer."""
    bounds = budget.over_time
    n_answers = len(bounds) - 1
    if not n_answers or not budget.n_groups:
        return None
    last = n_answers + (FORECAST_ANSWERS if budget.may_go_on else 0)
    x_scale = covering([0.0, float(last)])
    y_scale = covering([0.0, USEFUL, budget.gained, budget.forecast if budget.may_go_on else 0.0])
    at_answers = sorted({round(n_answers * point / POINTS) for point in range(POINTS + 1)})
    ends = [(x_scale.at(float(at)), _y(y_scale, bounds[at])) for at in at_answers]
    now = Mark(*ends[-1], f"Now: {budget.gained:.3f}", is_ahead=False)
    marks, ahead = [now], None
    if budget.may_go_on:
        y = _y(y_scale, budget.forecast)
        later = Mark(x_scale.at(float(last)), y, f"After {FORECAST_ANSWERS} more: {budget.forecast:.3f}", is_ahead=True)
        marks.append(later)
        ahead = (now.x, now.y, later.x, later.y)
    rungs = [(_y(y_scale, y_scale.low + i * y_scale.step), label) for i, (_, label) in enumerate(y_scale.ticks)]
    curve = [(x1, y1, x2, y2) for (x1, y1), (x2, y2) in pairwise(ends)]
    return BudgetChart(x_scale, rungs, curve, ahead, _y(y_scale, USEFUL), marks)


def _y(y_scale: Scale, value: float) -> float:
    return round(HEIGHT * (1 - (value - y_scale.low) / (y_scale.high - y_scale.low)), 1)
