"""The matrix of two dimensions: a cell for each pair of values, with margins where one of them is left open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, Pair, Row, slice_of
from leaderboard.boards.web.charts.heat import shade
from leaderboard.boards.web.tables.heat_rows import HeatCell, Source, heat_rows

OPEN = "all"


@dataclass(frozen=True)
class Place:
    """One cell of the matrix. outer, inner None: the margin over that dimension's values. n None: nothing scored."""

    outer: str | None
    inner: str | None
    source: Source
    n: int | None

    @property
    def key(self) -> str:
        """What names it in an address: values may hold anything, so the pair is written as JSON."""
        return json.dumps([self.outer, self.inner], ensure_ascii=False)

    @property
    def is_margin(self) -> bool:
        return self.outer is None or self.inner is None


@dataclass(frozen=True)
class Grid:
    """The places of two dimensions: a line for each value of the outer one, the margins last."""

    pair: Pair
    lines: Sequence[Sequence[Place]]

    @property
    def headings(self) -> list[str | None]:
        """The values of the inner dimension, None for the margin."""
        return [place.inner for place in self.lines[0]]

    @cached_property
    def places(self) -> list[Place]:
        return [place for line in self.lines for place in line]

    @property
    def whole(self) -> Place:
        return self.lines[-1][-1]

    def place(self, key: str) -> Place:
        """The place of that key; the whole for any other text."""
        return next((place for place in self.places if place.key == key), self.whole)


def grid_of(board: Board, pair: Pair, measure: Measure) -> Grid:
    """The grid of a board that was read with both dimensions."""
    outer, inner = ([*dict.fromkeys(board.dimensions[name]), None] for name in pair)
    return Grid(pair, [[_place(board, pair, measure, x, y) for y in inner] for x in outer])


def _place(board: Board, pair: Pair, measure: Measure, outer: str | None, inner: str | None) -> Place:
    values = zip(pair, (outer, inner), strict=True)
    slice_ = slice_of({name: value for name, value in values if value is not None})
    return Place(outer, inner, Source(measure, slice_), board.n(measure.name, slice_))


@dataclass(frozen=True)
class Matrix:
    """One system's cells, by the lines of the grid."""

    row: Row
    lines: Sequence[tuple[str | None, Sequence[HeatCell]]]

    @property
    def whole(self) -> HeatCell:
        return self.lines[-1][1][-1]


def matrices(grid: Grid, rows: Sequence[Row]) -> list[Matrix]:
    """One for each system, in their order."""
    cells = heat_rows(rows, [place.source for place in grid.places])
    width = len(grid.lines[0])
    return [
        Matrix(row, [(line[0].outer, own[i * width : (i + 1) * width]) for i, line in enumerate(grid.lines)])
        for row, own in zip(rows, cells, strict=True)
    ]


@dataclass(frozen=True)
class Leader:
    """Who is best at one place, several where they tie; none where nobody has a value."""

    place: Place
    value: float | None
    shade: str
    names: Sequence[str]


def leaders(grid: Grid, drawn: Sequence[Matrix]) -> list[tuple[str | None, list[Leader]]]:
    """The best of each place, in the lines of the grid."""
    return [
        (line[0].outer, [_leader(place, [(m.row, m.lines[i][1][j]) for m in drawn]) for j, place in enumerate(line)])
        for i, line in enumerate(grid.lines)
    ]


def _leader(place: Place, cells: Sequence[tuple[Row, HeatCell]]) -> Leader:
    best = [(row, heat) for row, heat in cells if heat.best]
    value = best[0][1].cell.value if best else None
    return Leader(place, value, shade(value, place.source.measure), [row.system for row, _ in best])
