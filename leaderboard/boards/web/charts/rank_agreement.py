"""A metric against people by rank: a square a system, with a circle where units are, the larger the more there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Cell, Row
from leaderboard.boards.queries.plots import Column, Grid

SIZE = 200
"""A square's side in the picture's own units."""
FULLEST = 0.5
"""The share of a column at which a circle fills its cell."""


@dataclass(frozen=True)
class Dot:
    """Units of one column and one part of people's order. x, y, r in the picture's units."""

    x: float
    y: float
    r: float
    n: int
    column: int
    part: int


@dataclass(frozen=True)
class Square:
    """One system's picture; `edges` are places between columns."""

    row: Row
    cell: Cell
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
                column=place,
                part=part + 1,
            )
            for place, column in enumerate(self.grid.columns, start=1)
            for part, n in enumerate(column.counts)
            if n
        ]

    @property
    def edges(self) -> list[float]:
        return [round(column.end * SIZE / self.grid.n_parts, 1) for column in self.grid.columns[:-1]]

    @property
    def heads(self) -> list[str]:
        """Each column's parts of the metric's order: `1`, `2-4`."""
        return [_parts(column) for column in self.grid.columns]

    @property
    def table(self) -> list[tuple[int, list[int]]]:
        """(part of people's order, counts by column), people's highest first."""
        parts = range(self.grid.n_parts - 1, -1, -1)
        return [(part + 1, [column.counts[part] for column in self.grid.columns]) for part in parts]


def _parts(column: Column) -> str:
    first, last = column.start + 1, column.end
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def squares(found: Sequence[tuple[Row, Cell, Grid]]) -> list[Square]:
    return [Square(*one) for one in found]
