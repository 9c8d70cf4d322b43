"""The critical-difference view: systems in the order of their ranks, and bars beside those that are not told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leaderboard.standings import Row
from leaderboard.web.charts.scale import Scale, covering

LINE = 34
"""Pixels of a system's line."""
BAR = 14
"""Pixels from one bar to the next."""
LONGEST = 40
MOST_BARS = 12


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
    """Systems of which no two differ significantly; places in pixels."""

    rows: Sequence[Row]
    x: int
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
    bars = [
        Bar(some, BAR * (place % MOST_BARS), places[some[0].system_id], places[some[-1].system_id])
        for place, some in enumerate(alike([row for row, _ in valued], differ))
    ]
    return ApartChart(lines, bars, scale, LINE * len(lines))


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
