"""Rank agreement plots: for each system a square with a circle for each cell of its rank histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.boards.queries.plots import Column, Grid

SIZE = 200
"""Side of a square in SVG units."""
FULLEST = 0.5
"""Share of a column's units at which a circle fills its cell; smaller shares get smaller circles."""


@dataclass(frozen=True)
class Dot:
    """Circle for the n units in one column (bins of metric ranks) and one bin of human ranks, both numbered from 1.

    x, y: centre; r: radius, in SVG units. part: the bin of human ranks, lowest rated first.
    """

    x: float
    y: float
    r: float
    n: int
    column: int
    part: int


@dataclass(frozen=True)
class Square:
    """One system's plot. edges: horizontal positions of the boundaries between columns, in SVG units."""

    row: Row
    score: ShownScore
    grid: Grid
    size: int = SIZE

    @property
    def dots(self) -> list[Dot]:
        side = SIZE / self.grid.n_bins
        return [
            Dot(
                x=round((column.start + column.end) / 2 * side, 1),
                y=round(SIZE - (part + 0.5) * side, 1),
                r=round(side / 2 * math.sqrt(min(1.0, n / sum(column.counts) / FULLEST)), 1),
                n=n,
                column=number,
                part=part + 1,
            )
            for number, column in enumerate(self.grid.columns, start=1)
            for part, n in enumerate(column.counts)
            if n
        ]

    @property
    def edges(self) -> list[float]:
        return [round(column.end * SIZE / self.grid.n_bins, 1) for column in self.grid.columns[:-1]]

    @property
    def heads(self) -> list[str]:
        """Headings of the columns: the bins of the metric's ranking that each column covers, such as `1` or `2-4`."""
        return [_parts(column) for column in self.grid.columns]

    @property
    def table(self) -> list[tuple[int, list[int]]]:
        """(number of a bin of human ranks, counts by column), the highest rated bin first."""
        parts = range(self.grid.n_bins - 1, -1, -1)
        return [(part + 1, [column.counts[part] for column in self.grid.columns]) for part in parts]


def _parts(column: Column) -> str:
    first, last = column.start + 1, column.end
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def squares(rows: Sequence[tuple[Row, ShownScore, Grid]]) -> list[Square]:
    return [Square(*entry) for entry in rows]
