"""Progress chart: a step line of the best score so far, with reference levels to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from evaluator.disclosure.ladder import Bounds
from leaderboard.boards.queries import ShownScore
from leaderboard.core.web.scale import Scale, covering

HEIGHT = 320
"""Pixels from the highest value to the lowest; the chart is as wide as the page."""
LINE = 17
"""Height of a label in pixels."""
TICKS = 4
ROOM = 0.04
"""Horizontal padding on either side, as a share of the width."""
NEAR = 0.03
"""Numbers of marks overlap if the marks are closer than this share of the width, and than two radii in height."""
RADIUS = 10
LONGEST = 34
"""Maximum characters of a label; the table has the full name."""


@dataclass(frozen=True)
class ScoreAtTime:
    """A score, and when its submission was received. is_best: the best so far, through which the step line goes."""

    number: int
    name: str
    at: datetime
    score: ShownScore
    is_best: bool = True


@dataclass(frozen=True)
class Level:
    """A reference value without a date, such as a reported result. y, label_y: pixels from the top.

    bounds: of the true score of a system on a ladder.
    """

    name: str
    value: float
    is_human: bool = False
    y: float = 0.0
    label_y: float = 0.0
    bounds: Bounds | None = None

    @property
    def label(self) -> str:
        return self.name if len(self.name) <= LONGEST else f"{self.name[: LONGEST - 1]}…"


@dataclass(frozen=True)
class Mark:
    """A score's position in the chart. x: an SVG length; share: its time as a share of the time axis, from 0 to 1.

    y, low, high: pixels from the top, of the score and of the ends of its interval. aside: horizontal offset in pixels
    of the mark's number, so that numbers do not overlap.
    """

    moment: ScoreAtTime
    x: str
    y: float
    low: float
    high: float
    share: float
    aside: int = 0


@dataclass(frozen=True)
class ProgressChart:
    """Chart of the best score so far. stair: segments (x1, y1, x2, y2) of its step line.

    ticks, rungs: (x, label) and (y, label) of the marks on the horizontal and the vertical axis.
    """

    marks: Sequence[Mark]
    stair: Sequence[tuple[str, float, str, float]]
    levels: Sequence[Level]
    ticks: Sequence[tuple[str, str]]
    rungs: Sequence[tuple[float, str]]
    height: int = HEIGHT


def progress_chart(moments: Sequence[ScoreAtTime], levels: Sequence[Level] = ()) -> ProgressChart | None:
    """Return the chart of the scores `moments`, which are sorted by time; None if none has a value.

    levels: reference values to compare with, drawn as horizontal lines.
    """
    moments = [moment for moment in moments if moment.score.value is not None]
    if not moments:
        return None
    first, last = moments[0].at, moments[-1].at
    if last - first < timedelta(hours=1):
        # Extend the axis to the past: nothing is known of the time after the last score.
        first = last - timedelta(hours=1)
    ends = [end for m in moments for end in (m.score.low, m.score.value, m.score.high) if end is not None]
    up = covering([*ends, *(level.value for level in levels)])
    marks = [
        Mark(
            moment,
            _x(moment.at, first, last),
            _y(up, moment.score.value),
            _y(up, moment.score.value if moment.score.low is None else moment.score.low),
            _y(up, moment.score.value if moment.score.high is None else moment.score.high),
            (moment.at - first) / (last - first),
        )
        for moment in moments
    ]
    rungs = [(_y(up, up.low + i * up.step), label) for i, (_, label) in enumerate(up.ticks)]
    return ProgressChart(
        _shift_numbers(marks),
        _step_line([m for m in marks if m.moment.is_best]),
        _position_labels(levels, up),
        _dates(first, last),
        rungs,
    )


def _x(at: datetime, first: datetime, last: datetime) -> str:
    share = (at - first) / (last - first)
    return f"{(ROOM + share * (1 - 2 * ROOM)) * 100:.2f}%"


def _y(up: Scale, value: float | None) -> float:
    share = ((value or 0.0) - up.low) / (up.high - up.low)
    return round((1.0 - min(1.0, max(0.0, share))) * HEIGHT, 1)


def _step_line(steps: Sequence[Mark]) -> list[tuple[str, float, str, float]]:
    """Return the segments (x1, y1, x2, y2) of the line through the best scores so far, which are `steps`.

    It is horizontal to the time of the next best score, then vertical, and at last horizontal to the right edge.
    """
    lines = []
    for step, following in pairwise(steps):
        lines += [(step.x, step.y, following.x, step.y), (following.x, step.y, following.x, following.y)]
    return [*lines, (steps[-1].x, steps[-1].y, "100%", steps[-1].y)] if steps else []


def _shift_numbers(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks with the numbers of overlapping ones shifted horizontally, towards the middle of the chart."""
    placed: list[Mark] = []
    remaining = list(marks)
    while remaining:
        first = remaining[0]
        overlapping = [m for m in remaining if abs(m.share - first.share) < NEAR and abs(m.y - first.y) < 2 * RADIUS]
        remaining = [m for m in remaining if m not in overlapping]
        is_late = first.share > 0.5
        for index, mark in enumerate(overlapping):
            steps = index - len(overlapping) + 1 if is_late else index
            placed.append(replace(mark, aside=steps * (2 * RADIUS + 1)))
    return placed


def _dates(first: datetime, last: datetime) -> list[tuple[str, str]]:
    shown = "%Y-%m-%d" if last - first > timedelta(days=TICKS) else "%m-%d %H:%M"
    times = [first + (last - first) * (i / (TICKS - 1)) for i in range(TICKS)]
    return [(_x(at, first, last), at.strftime(shown)) for at in times]


def _position_labels(levels: Sequence[Level], up: Scale) -> list[Level]:
    """Return the levels with positions, from the bottom up: each label on its line, or above one that it would overlap.

    up: scale of the vertical axis.
    """
    placed: list[Level] = []
    for level in sorted(levels, key=lambda level: _y(up, level.value), reverse=True):
        y = _y(up, level.value)
        at = min([y, *(other.label_y - LINE for other in placed[-1:])])
        placed.append(replace(level, y=y, label_y=at))
    return placed
