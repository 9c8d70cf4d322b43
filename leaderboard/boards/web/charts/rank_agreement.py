"""Rank agreement plots: per system a square with one circle per rank bin, sized by its number of units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.boards.queries.plots import Column, Grid

SIZE = 200
"""Side of a square in SVG units."""
FULLEST = 0.5
"""Share of a column's units at which a circle fills its bin."""


@dataclass(frozen=True)
class Dot:
    """Units in one column (metric ranks) and one part (human ranks, from 1). x, y, r: SVG units."""

    x: float
    y: float
    r: float
    n: int
    column: int
    part: int


@dataclass(frozen=True)
class Square:
    """One system's plot. edges: x of the boundaries between columns."""

    row: Row
    score: ShownScore
    grid: Grid
    size: int = SIZE

    @property
    def dots(self) -> list[Dot]:
        side = SIZE / self.grid.n_parts
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
        return [round(column.end * SIZE / self.grid.n_parts, 1) for column in self.grid.columns[:-1]]

    @property
    def heads(self) -> list[str]:
        """Headings of the columns: the parts of the metric's ranking that each covers, such as `1` or `2-4`."""
        return [_parts(column) for column in self.grid.columns]

    @property
    def table(self) -> list[tuple[int, list[int]]]:
        """(part of the human ranking, counts by column), the highest rated part first."""
        parts = range(self.grid.n_parts - 1, -1, -1)
        return [(part + 1, [column.counts[part] for column in self.grid.columns]) for part in parts]


def _parts(column: Column) -> str:
    first, last = column.start + 1, column.end
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def squares(rows: Sequence[tuple[Row, ShownScore, Grid]]) -> list[Square]:
    return [Square(*entry) for entry in rows]
