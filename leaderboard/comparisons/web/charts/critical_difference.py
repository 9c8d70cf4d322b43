"""Critical-difference diagram: systems in rank order, and bars that join those that do not differ significantly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row
from leaderboard.core.web.scale import Scale, covering

LINE = 34
"""Height of a system's line, in pixels."""
ROOM = 6
"""Number of columns of bars at full spacing; more are set closer together."""
LONGEST = 40
"""Maximum characters of a label."""


@dataclass(frozen=True)
class Line:
    """A system. value: of the primary measure. y: pixels from the top. x: position on the scale, as an SVG length."""

    row: Row
    value: float
    y: int
    x: str

    @property
    def label(self) -> str:
        return self.row.system if len(self.row.system) <= LONGEST else f"{self.row.system[: LONGEST - 1]}…"


@dataclass(frozen=True)
class Bar:
    """Systems of which no two differ significantly; x is an SVG length, top and bottom are in pixels."""

    rows: Sequence[Row]
    x: str
    top: int
    bottom: int


@dataclass(frozen=True)
class SignificanceChart:
    lines: Sequence[Line]
    bars: Sequence[Bar]
    scale: Scale
    height: int


def significance_chart(
    rows: Sequence[Row], measure: str, differ: Callable[[Row, Row], bool]
) -> SignificanceChart | None:
    """Lay out the diagram; None if fewer than two systems have a value.

    rows: ranked systems, best first. differ: returns True if two systems differ significantly.
    """
    valued = [(row, value) for row in rows if (value := row.score(measure).value) is not None]
    if len(valued) < 2:
        return None
    scale = covering(value for _, value in valued)
    ys = {row.system_id: LINE // 2 + LINE * index for index, (row, _) in enumerate(valued)}
    lines = [Line(row, value, ys[row.system_id], scale.at(value)) for row, value in valued]
    bars = _bars(indistinguishable_groups([row for row, _ in valued], differ), ys)
    return SignificanceChart(lines, bars, scale, LINE * len(lines))


def _bars(groups: Sequence[Sequence[Row]], ys: Mapping[int, int]) -> list[Bar]:
    """Place the bar of each group in the first column in which it overlaps no other bar."""
    ends: list[int] = []
    placed = []
    for rows in groups:
        top, bottom = ys[rows[0].system_id], ys[rows[-1].system_id]
        column = next((index for index, end in enumerate(ends) if end < top), len(ends))
        ends[column : column + 1] = [bottom]
        placed.append((rows, column, top, bottom))
    width = max(ROOM, len(ends))
    return [Bar(rows, f"{(column + 0.5) / width:.2%}", top, bottom) for rows, column, top, bottom in placed]


def indistinguishable_groups(rows: Sequence[Row], differ: Callable[[Row, Row], bool]) -> list[Sequence[Row]]:
    """Return the maximal groups of consecutive rows of which no two differ, from the top; no group contains another."""
    groups: list[Sequence[Row]] = []
    end = 0
    for start in range(len(rows)):
        stop = start + 1
        while stop < len(rows) and not any(differ(row, rows[stop]) for row in rows[start:stop]):
            stop += 1
        if stop - start > 1 and stop > end:
            groups.append(rows[start:stop])
            end = stop
    return groups
