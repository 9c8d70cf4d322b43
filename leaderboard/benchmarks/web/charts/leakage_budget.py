"""Chart of score inflation by number of answers: with full disclosure, and with the phase's policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.core.web.scale import Scale, covering
from leaderboard.scoring.queries.leakage_budget import AHEAD, Budget, Spent, full_disclosure_inflation

HEIGHT = 300
"""Height of the plot area in pixels; the width is the page's."""
POINTS = 60

Line = tuple[str, float, str, float]
"""x1, y1, x2, y2: x are SVG lengths, y pixels from the top."""


@dataclass(frozen=True)
class Mark:
    """Point on the curve of the phase's own policy."""

    x: str
    y: float
    title: str
    is_ahead: bool


@dataclass(frozen=True)
class InformationChart:
    """Plot data. in_full, own: curves as segments; own is empty under full disclosure."""

    across: Scale
    rungs: Sequence[tuple[float, str]]
    in_full: Sequence[Line]
    own: Sequence[Line]
    marks: Sequence[Mark]
    height: int = HEIGHT


def information_chart(budget: Budget) -> InformationChart | None:
    """Return the chart from 0 to twice the present number of answers or all teams' quota; None without groups."""
    if not budget.n_groups:
        return None
    current = budget.spent.answers
    limit = max(current + 2 * AHEAD, 2 * current, budget.phase.quota_everybody or 0)
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
    """Return a hypothetical number of answers, with at most as many informative ones as so far."""
    return Spent(answers, min(answers, budget.spent.n_scored), budget.spent.levels)


def _line(x_scale: Scale, y_scale: Scale, last: int, value: Callable[[int], float]) -> list[Line]:
    # Sampled more densely near 0, where the curve is steep.
    counts = sorted({round(last * (point / POINTS) ** 2) for point in range(POINTS + 1)})
    ends = [(x_scale.at(float(k)), _y(y_scale, value(k))) for k in counts]
    return [(x1, y1, x2, y2) for (x1, y1), (x2, y2) in pairwise(ends)]


def _y(y_scale: Scale, value: float) -> float:
    return round(HEIGHT * (1 - (value - y_scale.low) / (y_scale.high - y_scale.low)), 1)
