"""The matrices of two dimensions as one picture: a small heat map a system, all in one scale of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.web.charts.matrix import OPEN, Grid, Matrix
from leaderboard.boards.web.tables.heat_rows import HeatCell

CELL_WIDTH, CELL_HEIGHT = 48, 32
HEAD, LEFT = 74, 84
"""Above a matrix for its system and the columns' values; left of it for the lines'."""
GAP = 36
WIDTH = 1200
"""Of the whole picture, unless one matrix is wider."""
MOST = 60
DARK = ("7", "8", "9", "10")
"""Levels of either colour that black numbers cannot be read on."""
LONGEST = 11
"""Characters of a value that have room; the table has the whole."""


@dataclass(frozen=True)
class Tile:
    """One cell: its middle is at (x, y) of its map."""

    x: int
    y: int
    heat: HeatCell
    is_margin: bool

    @property
    def is_dark(self) -> bool:
        """Whether its number must be light."""
        return self.heat.shade.rpartition("-")[2] in DARK

    @property
    def left(self) -> int:
        return self.x - CELL_WIDTH // 2 + 1

    @property
    def top(self) -> int:
        return self.y - CELL_HEIGHT // 2 + 1


@dataclass(frozen=True)
class Map:
    """One system's map at (x, y) of the picture; columns, lines: (place, value) of the headings."""

    matrix: Matrix
    x: int
    y: int
    columns: Sequence[tuple[int, str]]
    lines: Sequence[tuple[int, str]]
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Multiples:
    maps: Sequence[Map]
    width: int
    height: int
    tile: tuple[int, int] = (CELL_WIDTH - 2, CELL_HEIGHT - 2)


def multiples(grid: Grid, drawn: Sequence[Matrix]) -> Multiples | None:
    """A map for each of the first MOST matrices, in their order; None where there are none."""
    if not drawn:
        return None
    wide = LEFT + CELL_WIDTH * len(grid.headings) + GAP
    high = HEAD + CELL_HEIGHT * len(grid.lines) + GAP
    across = max(1, min(len(drawn), WIDTH // wide))
    maps = [
        _map(grid, matrix, place % across * wide, place // across * high) for place, matrix in enumerate(drawn[:MOST])
    ]
    return Multiples(maps, max(across * wide, 420), -(-len(maps) // across) * high)


def _map(grid: Grid, matrix: Matrix, x: int, y: int) -> Map:
    columns = [(LEFT + CELL_WIDTH * i + CELL_WIDTH // 2, _short(value)) for i, value in enumerate(grid.headings)]
    lines = [(HEAD + CELL_HEIGHT * i + CELL_HEIGHT // 2, _short(value)) for i, (value, _) in enumerate(matrix.lines)]
    tiles = [
        Tile(across, down, heat, place.is_margin)
        for (down, _), (_, cells), places in zip(lines, matrix.lines, grid.lines, strict=True)
        for (across, _), heat, place in zip(columns, cells, places, strict=True)
    ]
    return Map(matrix, x, y, columns, lines, tiles)


def _short(value: str | None) -> str:
    text = OPEN if value is None else value
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
