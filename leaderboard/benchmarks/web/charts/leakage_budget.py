"""What answers give away: the inflation after so many of them, told in full and with the phase's policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.core.web.scale import Scale, covering
from leaderboard.scoring.queries.leakage_budget import AHEAD, Budget, Spent, told_in_full

HEIGHT = 300
"""Pixels from the highest value to the lowest; the width is the page's."""
POINTS = 60

Line = tuple[str, float, str, float]
"""x1, y1, x2, y2: x are SVG lengths, y pixels from above."""


@dataclass(frozen=True)
class Mark:
    """A point on the phase's own line."""

    x: str
    y: float
    title: str
    is_ahead: bool


@dataclass(frozen=True)
class InformationChart:
    """in_full, own: the lines in pieces; own is empty where the phase tells in full."""

    across: Scale
    rungs: Sequence[tuple[float, str]]
    in_full: Sequence[Line]
    own: Sequence[Line]
    marks: Sequence[Mark]
    height: int = HEIGHT


def information_chart(budget: Budget) -> InformationChart | None:
    """From no answer to twice as many as there are, or as all teams may ask for; None: no groups to tell of."""
    if not budget.n_groups:
        return None
    so_far = budget.spent.answers
    most = max(so_far + 2 * AHEAD, 2 * so_far, budget.phase.quota_everybody or 0)
    across = covering([0.0, float(most)])
    last = int(across.high)
    up = covering([0.0, told_in_full(last, budget.n_groups), budget.rows[1].inflation])
    tells_in_full = budget.phase.disclosure == "full"
    own = [] if tells_in_full else _line(across, up, last, lambda k: budget.inflation(_at(budget, k)))
    marks = [
        Mark(across.at(row.answers), _y(up, row.inflation), f"{row.title}: {row.inflation:.3f}", place == 1)
        for place, row in enumerate(budget.rows)
    ]
    rungs = [(_y(up, up.low + i * up.step), label) for i, (_, label) in enumerate(up.ticks)]
    full = _line(across, up, last, lambda k: told_in_full(k, budget.n_groups))
    return InformationChart(across, rungs, full, own, marks)


def _at(budget: Budget, answers: int) -> Spent:
    """So many answers, of which as many told something as did."""
    return Spent(answers, min(answers, budget.spent.told), budget.spent.levels)


def _line(across: Scale, up: Scale, last: int, value: Callable[[int], float]) -> list[Line]:
    # Close together where the line is steep, near nothing.
    places = sorted({round(last * (point / POINTS) ** 2) for point in range(POINTS + 1)})
    ends = [(across.at(float(k)), _y(up, value(k))) for k in places]
    return [(x1, y1, x2, y2) for (x1, y1), (x2, y2) in pairwise(ends)]


def _y(up: Scale, value: float) -> float:
    return round(HEIGHT * (1 - (value - up.low) / (up.high - up.low)), 1)
