"""Chart of a phase's leakage budget: expected inflation of the best shown score by number of scored submissions.

One curve is for full disclosure of all scores, the other for the phase's own disclosure policy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.core.web.scale import Scale, covering
from leaderboard.scoring.queries.leakage_budget import FORECAST_RESULTS, Budget, Spent, full_disclosure_inflation

HEIGHT = 300
"""Height of the plot area in pixels; the width is the page's."""
POINTS = 60

Line = tuple[str, float, str, float]
"""A line segment x1, y1, x2, y2. x1 and x2 are SVG lengths, y1 and y2 pixels from the top."""


@dataclass(frozen=True)
class Mark:
    """A point on the curve of the phase's own policy. is_ahead: True for the forecast, False for the present state."""

    x: str
    y: float
    title: str
    is_ahead: bool


@dataclass(frozen=True)
class InformationChart:
    """The drawing of a leakage budget.

    across: scale of the x axis. rungs: (y in pixels, label) of each tick of the y axis. in_full: the curve under full
    disclosure. own: the curve under the phase's own policy; empty if that is full disclosure. height: in pixels.
    """

    across: Scale
    rungs: Sequence[tuple[float, str]]
    in_full: Sequence[Line]
    own: Sequence[Line]
    marks: Sequence[Mark]
    height: int = HEIGHT


def information_chart(budget: Budget) -> InformationChart | None:
    """Return the chart of a leakage budget; None if the gold has no groups.

    The x axis begins at 0. It ends at twice the present number of scored submissions or at the quota of all teams
    together, whichever is larger, and reaches beyond the forecast.
    """
    if not budget.n_groups:
        return None
    current = budget.spent.answers
    limit = max(current + 2 * FORECAST_RESULTS, 2 * current, budget.phase.quota_everybody or 0)
    x_scale = covering([0.0, float(limit)])
    last = int(x_scale.high)
    y_scale = covering([0.0, full_disclosure_inflation(last, budget.n_groups), budget.rows[1].inflation])
    is_full_disclosure = budget.phase.disclosure == "full"
    own_curve = [] if is_full_disclosure else _line(x_scale, y_scale, last, lambda k: budget.inflation(_at(budget, k)))
    marks = [
        Mark(x_scale.at(row.answers), _y(y_scale, row.inflation), f"{row.title}: {row.inflation:.3f}", index == 1)
        for index, row in enumerate(budget.rows)
    ]
    rungs = [(_y(y_scale, y_scale.low + i * y_scale.step), label) for i, (_, label) in enumerate(y_scale.ticks)]
    full_curve = _line(x_scale, y_scale, last, lambda k: full_disclosure_inflation(k, budget.n_groups))
    return InformationChart(x_scale, rungs, full_curve, own_curve, marks)


def _at(budget: Budget, answers: int) -> Spent:
    """Return the state of the budget after `answers` scored submissions, if no further submission reveals a score."""
    return Spent(answers, min(answers, budget.spent.n_scored), budget.spent.levels)


def _line(x_scale: Scale, y_scale: Scale, last: int, value: Callable[[int], float]) -> list[Line]:
    # Sampled more densely near 0, where the curve is steep.
    counts = sorted({round(last * (point / POINTS) ** 2) for point in range(POINTS + 1)})
    ends = [(x_scale.at(float(k)), _y(y_scale, value(k))) for k in counts]
    return [(x1, y1, x2, y2) for (x1, y1), (x2, y2) in pairwise(ends)]


def _y(y_scale: Scale, value: float) -> float:
    return round(HEIGHT * (1 - (value - y_scale.low) / (y_scale.high - y_scale.low)), 1)
