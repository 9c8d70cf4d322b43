"""The matrices of a two-way board as small multiples: one heat map per system, with one colour scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.web.charts.matrix import ALL_VALUES, Grid, Matrix
from leaderboard.boards.web.tables.heat_rows import HeatCell

CELL_WIDTH, CELL_HEIGHT = 48, 32
HEAD, LEFT = 74, 84
"""Room above a matrix for the system's name and the column headings, and left of it for the row headings."""
GAP = 36
WIDTH = 1200
"""Width of the SVG, unless one matrix is wider."""
MOST = 60
DARK = ("7", "8", "9", "10")
"""Heat levels, of either colour, that are too dark for black text."""
LONGEST = 11
"""Maximum characters of a heading; the table has the full value."""


@dataclass(frozen=True)
class Tile:
    """One cell of a map. x, y: its centre, in pixels from the map's top left corner."""

    x: int
    y: int
    heat: HeatCell
    is_margin: bool

    @property
    def is_dark(self) -> bool:
        """True if the cell's background is so dark that its number needs a light colour."""
        return self.heat.shade.rpartition("-")[2] in DARK

    @property
    def left(self) -> int:
        return self.x - CELL_WIDTH // 2 + 1

    @property
    def top(self) -> int:
        return self.y - CELL_HEIGHT // 2 + 1


@dataclass(frozen=True)
class Map:
    """One system's map. x, y: its top left corner in the SVG, in pixels.

    columns, lines: (centre of the column or line in pixels from the map's left or top edge, text) of the headings.
    """

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


def multiples(grid: Grid, matrices: Sequence[Matrix]) -> Multiples | None:
    """Return a map for each of the first MOST matrices, in their order; None if there are none."""
    if not matrices:
        return None
    wide = LEFT + CELL_WIDTH * len(grid.headings) + GAP
    high = HEAD + CELL_HEIGHT * len(grid.lines) + GAP
    across = max(1, min(len(matrices), WIDTH // wide))
    maps = [_map(grid, matrix, i % across * wide, i // across * high) for i, matrix in enumerate(matrices[:MOST])]
    return Multiples(maps, max(across * wide, 420), -(-len(maps) // across) * high)


def _map(grid: Grid, matrix: Matrix, x: int, y: int) -> Map:
    columns = [(LEFT + CELL_WIDTH * i + CELL_WIDTH // 2, _short(value)) for i, value in enumerate(grid.headings)]
    lines = [(HEAD + CELL_HEIGHT * i + CELL_HEIGHT // 2, _short(value)) for i, (value, _) in enumerate(matrix.lines)]
    tiles = [
        Tile(across, down, heat, entry.is_margin)
        for (down, _), (_, cells), entries in zip(lines, matrix.lines, grid.lines, strict=True)
        for (across, _), heat, entry in zip(columns, cells, entries, strict=True)
    ]
    return Map(matrix, x, y, columns, lines, tiles)


def _short(value: str | None) -> str:
    text = ALL_VALUES if value is None else value
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
