"""Quality against cost: a point a system, its interval upright, cost on a scale of doublings, and the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from leaderboard.boards.queries import Cell, Row
from leaderboard.core.web.scale import Scale, covering

HEIGHT = 420
"""Pixels from the highest value to the lowest; the width is the page's."""
RADIUS = 10
LINE = 17
"""Pixels that a label needs."""
LETTER = 0.0085
"""What a character of a label takes of the width, on a page of 900 pixels."""
POINT = 0.012
"""Half of what a point takes of the width there."""
TICKS = 8
LONGEST = 26
"""Characters of a label; the table has the whole name."""


@dataclass(frozen=True)
class Mark:
    """One system: its number in the table, and places. x: an SVG length; y, low, high, label_y, shift: pixels.

    on_front: no system is as good for less, or better for as much. shift: points of one place stand side by side;
    edge: the shift of the last of them.
    """

    row: Row
    number: int
    cell: Cell
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
        """Whether its label stands on the left, since there is no room on the right."""
        return self.share > 0.6

    @property
    def label(self) -> str:
        """The name, cut; with its number where points side by side make it hard to tell whose it is."""
        name = self.row.system
        short = name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"
        return f"{self.number} {short}" if self.edge else short

    @property
    def label_x(self) -> int:
        return -RADIUS - 5 if self.is_left else self.edge + RADIUS + 5

    @property
    def label_span(self) -> tuple[float, float]:
        """The shares of the width between which the label stands, about."""
        width = LETTER * len(self.label)
        right = self.share + POINT * (1 + self.edge / RADIUS)
        return (self.share - POINT - width, self.share - POINT) if self.is_left else (right, right + width)


@dataclass(frozen=True)
class Doublings:
    """A scale of powers of two, from 2 ** low to 2 ** high, one tick each `step` doublings."""

    low: int
    high: int
    step: int

    def share(self, cost: float) -> float:
        return (math.log2(cost) - self.low) / (self.high - self.low)

    @property
    def factor(self) -> int:
        """How many times a tick is the one before."""
        return 2**self.step

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(place, label)."""
        exponents = range(self.low, self.high + 1, self.step)
        return [(f"{self.share(2.0**e) * 100:.2f}%", f"{2.0**e:,.10g}") for e in exponents]


@dataclass(frozen=True)
class CostChart:
    """front: pairs of (x, y) between which the front's line runs, each as x1, y1, x2, y2."""

    marks: Sequence[Mark]
    across: Doublings
    rungs: Sequence[tuple[str, str]]
    front: Sequence[tuple[str, float, str, float]]
    height: int = HEIGHT


def cost_chart(rows: Sequence[Row], *, measure: str, kind: str, higher_is_better: bool = True) -> CostChart | None:
    """The chart of the rows with a value of `measure` and a cost of `kind`, the cheapest first; None: there is none."""
    found = [
        (row, cell, cost)
        for row in rows
        if (cost := row.spent(kind)) is not None and (cell := row.cell(measure)).value is not None
    ]
    if not found:
        return None
    sign = 1.0 if higher_is_better else -1.0
    found.sort(key=lambda one: (one[2], -sign * (one[1].value or 0.0)))
    across = doublings([cost for _, _, cost in found])
    up = covering(end for _, cell, _ in found for end in (cell.low, cell.value, cell.high) if end is not None)
    best = front([(cost, sign * (cell.value or 0.0)) for _, cell, cost in found])
    marks = [
        Mark(
            row=row,
            number=number,
            cell=cell,
            cost=cost,
            on_front=on_front,
            share=across.share(cost),
            y=_y(up, cell.value),
            low=_y(up, cell.value if cell.low is None else cell.low),
            high=_y(up, cell.value if cell.high is None else cell.high),
        )
        for number, ((row, cell, cost), on_front) in enumerate(zip(found, best, strict=True), start=1)
    ]
    marks = _labelled(_side_by_side(marks))
    rungs = [(f"{_y(up, up.low + i * up.step):.1f}", label) for i, (_, label) in enumerate(up.ticks)]
    return CostChart(marks, across, rungs, _stairs(marks))


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Of (cost, quality): whether no other point is as good for less, or better for as much. Equal ones share it."""
    return [
        not any(c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in points) for cost, quality in points
    ]


def doublings(costs: Sequence[float]) -> Doublings:
    """A scale around costs, at least two doublings wide, with at most TICKS steps."""
    low = math.floor(math.log2(min(costs)) - 0.25)
    high = math.ceil(math.log2(max(costs)) + 0.25)
    high = max(high, low + 2)
    step = math.ceil((high - low) / TICKS)
    return Doublings(low, low + math.ceil((high - low) / step) * step, step)


def _y(up: Scale, value: float | None) -> float:
    share = ((value or 0.0) - up.low) / (up.high - up.low)
    return round((1.0 - min(1.0, max(0.0, share))) * HEIGHT, 1)


def _side_by_side(marks: Sequence[Mark]) -> list[Mark]:
    """Points of one cost that would cover one another, moved apart."""
    placed: list[Mark] = []
    for mark in marks:
        covered = [other.shift for other in placed if _cover(other, mark)]
        placed.append(replace(mark, shift=max(covered) + 2 * RADIUS + 2) if covered else mark)
    return [replace(mark, edge=max(other.shift for other in placed if _cover(other, mark))) for mark in placed]


def _cover(one: Mark, other: Mark) -> bool:
    return one.share == other.share and abs(one.y - other.y) < 2 * RADIUS


def _labelled(marks: Sequence[Mark]) -> list[Mark]:
    """Each label at its point's height, or below the labels and the points that are in its way."""
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.y, mark.number)):
        left, right = mark.label_span
        labels = [(p.label_y, LINE) for p in placed if p.label_span[0] < right and left < p.label_span[1]]
        points = [p for p in marks if left - POINT < p.share < right + POINT and p.share != mark.share]
        in_the_way = [*labels, *((p.y, RADIUS + LINE / 2) for p in points)]
        at = mark.y
        # The allowance is for rounding: a label that was just moved out of the way must not count as in it.
        while hit := [y + room for y, room in in_the_way if abs(y - at) < room - 1e-6]:
            at = max(hit)
        placed.append(replace(mark, label_y=at))
    return sorted(placed, key=lambda mark: mark.number)


def _stairs(marks: Sequence[Mark]) -> list[tuple[str, float, str, float]]:
    """From each point of the front level to the cost of the next, then up to it; the last one's level runs on."""
    steps = [mark for mark in marks if mark.on_front]
    lines = []
    for one, other in pairwise(steps):
        lines += [(one.x, one.y, other.x, one.y), (other.x, one.y, other.x, other.y)]
    return [*lines, (steps[-1].x, steps[-1].y, "100%", steps[-1].y)]
