"""The best score over time: a stair of the scores that were the best when they came, with levels to hold it against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from leaderboard.boards.queries import Cell
from leaderboard.core.web.scale import Scale, covering

HEIGHT = 320
"""Pixels from the highest value to the lowest; the width is the page's."""
LINE = 17
"""Pixels that a label needs of the height."""
TICKS = 4
ROOM = 0.04
"""Of the width, to either side of the first and the last."""
NEAR = 0.03
"""Of the width: marks that are closer would cover each other's numbers, as would those within two radii in height."""
RADIUS = 10
LONGEST = 34
"""Characters of a label: the rest is in the table."""


@dataclass(frozen=True)
class Moment:
    """One score that came at a time. is_best: it was the best so far, and the stair goes through it."""

    number: int
    name: str
    at: datetime
    cell: Cell
    is_best: bool = True
    is_apart: bool = False


@dataclass(frozen=True)
class Level:
    """A value that is no moment: what a paper reports. y, label_y: pixels from above."""

    name: str
    value: float
    is_human: bool = False
    y: float = 0.0
    label_y: float = 0.0

    @property
    def label(self) -> str:
        return self.name if len(self.name) <= LONGEST else f"{self.name[: LONGEST - 1]}…"


@dataclass(frozen=True)
class Mark:
    """A moment in the picture: x is an SVG length, the others are pixels, from above but for `aside`.

    aside: how far its number stands from its place, where others have theirs there.
    """

    moment: Moment
    x: str
    y: float
    low: float
    high: float
    share: float
    aside: int = 0


@dataclass(frozen=True)
class ProgressChart:
    """stair: pieces of x1, y1, x2, y2. ticks, rungs: (place, label)."""

    marks: Sequence[Mark]
    stair: Sequence[tuple[str, float, str, float]]
    levels: Sequence[Level]
    ticks: Sequence[tuple[str, str]]
    rungs: Sequence[tuple[float, str]]
    height: int = HEIGHT


def progress_chart(moments: Sequence[Moment], levels: Sequence[Level] = ()) -> ProgressChart | None:
    """The picture of moments in the order of their time; None where there are none."""
    moments = [moment for moment in moments if moment.cell.value is not None]
    if not moments:
        return None
    first, last = moments[0].at, moments[-1].at
    if last - first < timedelta(hours=1):
        # Nothing is known of what comes after the last one.
        first = last - timedelta(hours=1)
    ends = [end for m in moments for end in (m.cell.low, m.cell.value, m.cell.high) if end is not None]
    up = covering([*ends, *(level.value for level in levels)])
    marks = [
        Mark(
            moment,
            _x(moment.at, first, last),
            _y(up, moment.cell.value),
            _y(up, moment.cell.value if moment.cell.low is None else moment.cell.low),
            _y(up, moment.cell.value if moment.cell.high is None else moment.cell.high),
            (moment.at - first) / (last - first),
        )
        for moment in moments
    ]
    rungs = [(_y(up, up.low + i * up.step), label) for i, (_, label) in enumerate(up.ticks)]
    return ProgressChart(
        _readable(marks), _stair([m for m in marks if m.moment.is_best]), _apart(levels, up), _dates(first, last), rungs
    )


def _x(at: datetime, first: datetime, last: datetime) -> str:
    share = (at - first) / (last - first)
    return f"{(ROOM + share * (1 - 2 * ROOM)) * 100:.2f}%"


def _y(up: Scale, value: float | None) -> float:
    share = ((value or 0.0) - up.low) / (up.high - up.low)
    return round((1.0 - min(1.0, max(0.0, share))) * HEIGHT, 1)


def _stair(steps: Sequence[Mark]) -> list[tuple[str, float, str, float]]:
    """From each step at its height to the time of the next, then up to it; the last one's height runs on."""
    lines = []
    for one, other in pairwise(steps):
        lines += [(one.x, one.y, other.x, one.y), (other.x, one.y, other.x, other.y)]
    return [*lines, (steps[-1].x, steps[-1].y, "100%", steps[-1].y)] if steps else []


def _readable(marks: Sequence[Mark]) -> list[Mark]:
    """Marks whose numbers would cover each other, side by side towards the middle of the picture."""
    placed: list[Mark] = []
    left = list(marks)
    while left:
        one = left[0]
        beside = [m for m in left if abs(m.share - one.share) < NEAR and abs(m.y - one.y) < 2 * RADIUS]
        left = [m for m in left if m not in beside]
        is_late = one.share > 0.5
        for place, mark in enumerate(beside):
            steps = place - len(beside) + 1 if is_late else place
            placed.append(replace(mark, aside=steps * (2 * RADIUS + 1)))
    return placed


def _dates(first: datetime, last: datetime) -> list[tuple[str, str]]:
    shown = "%Y-%m-%d" if last - first > timedelta(days=TICKS) else "%m-%d %H:%M"
    times = [first + (last - first) * (i / (TICKS - 1)) for i in range(TICKS)]
    return [(_x(at, first, last), at.strftime(shown)) for at in times]


def _apart(levels: Sequence[Level], up: Scale) -> list[Level]:
    """Levels from below, each label on its line, or above the label that is in its way."""
    placed: list[Level] = []
    for level in sorted(levels, key=lambda level: _y(up, level.value), reverse=True):
        y = _y(up, level.value)
        at = min([y, *(other.label_y - LINE for other in placed[-1:])])
        placed.append(replace(level, y=y, label_y=at))
    return placed
