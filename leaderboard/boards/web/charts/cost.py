"""Chart of quality against cost: a point with a vertical interval per system, a log2 cost axis, the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.core.web.scale import Scale, covering

HEIGHT = 420
"""Pixels from the highest value to the lowest; the chart is as wide as the page."""
RADIUS = 10
LINE = 17
"""Height of a label in pixels."""
LETTER = 0.0085
"""Width of a label's character, as a share of a page of 900 pixels."""
POINT = 0.012
"""Half the width of a point, as a share of the same page."""
TICKS = 8
LONGEST = 26
"""Maximum characters of a label; the table has the full name."""


@dataclass(frozen=True)
class Mark:
    """One system in the chart, with its number in the table.

    on_front: True if no system is at least as good at a lower cost, or better at the same cost.
    share: horizontal position as a share of the width. y, low, high: pixels from the top to the value and to the ends
    of its interval. shift: horizontal offset in pixels of a point that would overlap others; edge: the largest shift of
    the overlapping points. label_y: pixels from the top to the label.
    """

    row: Row
    number: int
    score: ShownScore
    cost: float
    on_front: bool
    share: float
    y: float
    low: float
    high: float
    shift: int = 0
    edge: int = 0
    label_y: float = 0.0

    @property
    def x(self) -> str:
        return f"{self.share * 100:.2f}%"

    @property
    def is_left(self) -> bool:
        """True if the label is left of the point, because there is no room on the right."""
        return self.share > 0.6

    @property
    def label(self) -> str:
        """The truncated name, prefixed with its number where overlapping points make it ambiguous."""
        name = self.row.system
        short = name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"
        return f"{self.number} {short}" if self.edge else short

    @property
    def label_x(self) -> int:
        return -RADIUS - 5 if self.is_left else self.edge + RADIUS + 5

    @property
    def label_span(self) -> tuple[float, float]:
        """Approximate horizontal extent of the label, as shares of the width."""
        width = LETTER * len(self.label)
        right = self.share + POINT * (1 + self.edge / RADIUS)
        return (self.share - POINT - width, self.share - POINT) if self.is_left else (right, right + width)


@dataclass(frozen=True)
class Doublings:
    """A log2 scale from 2 ** low to 2 ** high, with a tick every `step` doublings."""

    low: int
    high: int
    step: int

    def share(self, cost: float) -> float:
        return (math.log2(cost) - self.low) / (self.high - self.low)

    @property
    def factor(self) -> int:
        """Ratio of adjacent ticks."""
        return 2**self.step

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(position, label) of each tick."""
        exponents = range(self.low, self.high + 1, self.step)
        return [(f"{self.share(2.0**e) * 100:.2f}%", f"{2.0**e:,.10g}") for e in exponents]


@dataclass(frozen=True)
class CostChart:
    """Chart of quality against cost.

    front: segments (x1, y1, x2, y2) of the Pareto front's line. rungs: (y, label) of the vertical axis's ticks.
    """

    marks: Sequence[Mark]
    across: Doublings
    rungs: Sequence[tuple[str, str]]
    front: Sequence[tuple[str, float, str, float]]
    height: int = HEIGHT


def cost_chart(rows: Sequence[Row], *, measure: str, kind: str, higher_is_better: bool = True) -> CostChart | None:
    """Return the chart of rows with both `measure` and a cost of `kind`, cheapest first; None if there are none."""
    costed = [
        (row, score, cost)
        for row in rows
        if (cost := row.cost_of(kind)) is not None and (score := row.score(measure)).value is not None
    ]
    if not costed:
        return None
    sign = 1.0 if higher_is_better else -1.0
    costed.sort(key=lambda entry: (entry[2], -sign * (entry[1].value or 0.0)))
    across = doublings([cost for _, _, cost in costed])
    up = covering(end for _, score, _ in costed for end in (score.low, score.value, score.high) if end is not None)
    best = front([(cost, sign * (score.value or 0.0)) for _, score, cost in costed])
    marks = [
        Mark(
            row=row,
            number=number,
            score=score,
            cost=cost,
            on_front=on_front,
            share=across.share(cost),
            y=_y(up, score.value),
            low=_y(up, score.value if score.low is None else score.low),
            high=_y(up, score.value if score.high is None else score.high),
        )
        for number, ((row, score, cost), on_front) in enumerate(zip(costed, best, strict=True), start=1)
    ]
    marks = _position_labels(_shift_overlapping(marks))
    rungs = [(f"{_y(up, up.low + i * up.step):.1f}", label) for i, (_, label) in enumerate(up.ticks)]
    return CostChart(marks, across, rungs, _step_lines(marks))


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each (cost, quality) point whether it is on the Pareto front. Higher quality is better."""
    return [
        not any(c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in points) for cost, quality in points
    ]


def doublings(costs: Sequence[float]) -> Doublings:
    """Return a log2 scale that covers the costs, at least two doublings wide, with at most TICKS steps."""
    low = math.floor(math.log2(min(costs)) - 0.25)
    high = math.ceil(math.log2(max(costs)) + 0.25)
    high = max(high, low + 2)
    step = math.ceil((high - low) / TICKS)
    return Doublings(low, low + math.ceil((high - low) / step) * step, step)


def _y(up: Scale, value: float | None) -> float:
    share = ((value or 0.0) - up.low) / (up.high - up.low)
    return round((1.0 - min(1.0, max(0.0, share))) * HEIGHT, 1)


def _shift_overlapping(marks: Sequence[Mark]) -> list[Mark]:
    """Shift overlapping points of equal cost horizontally."""
    placed: list[Mark] = []
    for mark in marks:
        covered = [other.shift for other in placed if _overlap(other, mark)]
        placed.append(replace(mark, shift=max(covered) + 2 * RADIUS + 2) if covered else mark)
    return [replace(mark, edge=max(other.shift for other in placed if _overlap(other, mark))) for mark in placed]


def _overlap(one: Mark, other: Mark) -> bool:
    return one.share == other.share and abs(one.y - other.y) < 2 * RADIUS


def _position_labels(marks: Sequence[Mark]) -> list[Mark]:
    """Place each label at its point's height, or below the labels and points that it would overlap."""
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.y, mark.number)):
        left, right = mark.label_span
        labels = [(p.label_y, LINE) for p in placed if p.label_span[0] < right and left < p.label_span[1]]
        points = [p for p in marks if left - POINT < p.share < right + POINT and p.share != mark.share]
        obstacles = [*labels, *((p.y, RADIUS + LINE / 2) for p in points)]
        label_y = mark.y
        # The tolerance absorbs rounding: a label that was just moved must not count as overlapping again.
        while hits := [y + min_gap for y, min_gap in obstacles if abs(y - label_y) < min_gap - 1e-6]:
            label_y = max(hits)
        placed.append(replace(mark, label_y=label_y))
    return sorted(placed, key=lambda mark: mark.number)


def _step_lines(marks: Sequence[Mark]) -> list[tuple[str, float, str, float]]:
    """Return the Pareto front's line: horizontal to the cost of the next point, then vertical; at last to the edge."""
    steps = [mark for mark in marks if mark.on_front]
    lines = []
    for point, following in pairwise(steps):
        lines += [(point.x, point.y, following.x, point.y), (following.x, point.y, following.x, following.y)]
    return [*lines, (steps[-1].x, steps[-1].y, "100%", steps[-1].y)]
