"""The critical-difference view: systems in the order of their ranks, and bars beside those that are not told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row
from leaderboard.core.web.scale import Scale, covering

LINE = 34
"""Pixels of a system's line."""
ROOM = 6
"""As many bars stand side by side before they come closer."""
LONGEST = 40


@dataclass(frozen=True)
class Line:
    """A system: y in pixels from above, x an SVG length on the scale."""

    row: Row
    value: float
    y: int
    x: str

    @property
    def label(self) -> str:
        return self.row.system if len(self.row.system) <= LONGEST else f"{self.row.system[: LONGEST - 1]}…"


@dataclass(frozen=True)
class Bar:
    """Systems of which no two differ significantly; x is an SVG length, the others are pixels."""

    rows: Sequence[Row]
    x: str
    top: int
    bottom: int


@dataclass(frozen=True)
class ApartChart:
    lines: Sequence[Line]
    bars: Sequence[Bar]
    scale: Scale
    height: int


def apart_chart(rows: Sequence[Row], measure: str, differ: Callable[[Row, Row], bool]) -> ApartChart | None:
    """rows: ranked ones with a value, best first. differ: whether two differ significantly. None: fewer than two."""
    valued = [(row, value) for row in rows if (value := row.cell(measure).value) is not None]
    if len(valued) < 2:
        return None
    scale = covering(value for _, value in valued)
    places = {row.system_id: LINE // 2 + LINE * place for place, (row, _) in enumerate(valued)}
    lines = [Line(row, value, places[row.system_id], scale.at(value)) for row, value in valued]
    bars = _bars(alike([row for row, _ in valued], differ), places)
    return ApartChart(lines, bars, scale, LINE * len(lines))


def _bars(found: Sequence[Sequence[Row]], places: Mapping[int, int]) -> list[Bar]:
    """Each in the first column that is free at its height."""
    ends: list[int] = []
    placed = []
    for rows in found:
        top, bottom = places[rows[0].system_id], places[rows[-1].system_id]
        column = next((place for place, end in enumerate(ends) if end < top), len(ends))
        ends[column : column + 1] = [bottom]
        placed.append((rows, column, top, bottom))
    width = max(ROOM, len(ends))
    return [Bar(rows, f"{(column + 0.5) / width:.2%}", top, bottom) for rows, column, top, bottom in placed]


def alike(rows: Sequence[Row], differ: Callable[[Row, Row], bool]) -> list[Sequence[Row]]:
    """The longest runs of neighbours of which no two differ, from above; none lies inside another."""
    found: list[Sequence[Row]] = []
    end = 0
    for start in range(len(rows)):
        stop = start + 1
        while stop < len(rows) and not any(differ(one, rows[stop]) for one in rows[start:stop]):
            stop += 1
        if stop - start > 1 and stop > end:
            found.append(rows[start:stop])
            end = stop
    return found
