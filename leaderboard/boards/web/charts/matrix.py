"""Matrices of two dimensions: a cell for each pair of values, with margins over each dimension."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evaluator.measures.base import Measure
from leaderboard.boards.queries import NO_SCORE, Board, Pair, Row, ShownScore, slice_of
from leaderboard.boards.web.charts.heat import shade
from leaderboard.boards.web.tables.heat_rows import HeatCell, Source, heat_rows

ALL_VALUES = "all"


@dataclass(frozen=True)
class MatrixEntry:
    """One cell of the grid. outer, inner: values of the two dimensions; None: all values.

    n: number of gold units; None: the cell is not scored.
    """

    outer: str | None
    inner: str | None
    source: Source
    n: int | None

    @property
    def key(self) -> str:
        """Key of the cell for query strings: its pair of values as JSON, because these may contain any character."""
        return json.dumps([self.outer, self.inner], ensure_ascii=False)

    @property
    def is_margin(self) -> bool:
        return self.outer is None or self.inner is None


@dataclass(frozen=True)
class Grid:
    """The cells of two crossed dimensions: a line for each value of the outer one. Last line and column: all values."""

    pair: Pair
    lines: Sequence[Sequence[MatrixEntry]]

    @property
    def headings(self) -> list[str | None]:
        """The values of the inner dimension; None, the last one, stands for all values."""
        return [entry.inner for entry in self.lines[0]]

    @cached_property
    def entries(self) -> list[MatrixEntry]:
        return [entry for line in self.lines for entry in line]

    @property
    def whole(self) -> MatrixEntry:
        return self.lines[-1][-1]

    def entry(self, key: str) -> MatrixEntry:
        """Return the cell with this key; for any other text the cell of all units."""
        return next((entry for entry in self.entries if entry.key == key), self.whole)


def grid_of(board: Board, pair: Pair, measure: Measure) -> Grid:
    """Return the grid of two dimensions, outer first, for a measure. The board has been read with slices by both."""
    outer, inner = ([*dict.fromkeys(board.dimensions[name]), None] for name in pair)
    return Grid(pair, [[_grid_entry(board, pair, measure, x, y) for y in inner] for x in outer])


def _grid_entry(board: Board, pair: Pair, measure: Measure, outer: str | None, inner: str | None) -> MatrixEntry:
    values = zip(pair, (outer, inner), strict=True)
    slice_ = slice_of({name: value for name, value in values if value is not None})
    return MatrixEntry(outer, inner, Source(measure, slice_), board.n(measure.name, slice_))


class MatrixLine(NamedTuple):
    """One system's cells in one line of the grid. outer: the line's value of the outer dimension; None: all units."""

    outer: str | None
    cells: Sequence[HeatCell]


@dataclass(frozen=True)
class Matrix:
    """One system's cells, by the lines of the grid."""

    row: Row
    lines: Sequence[MatrixLine]

    @property
    def whole(self) -> HeatCell:
        return self.lines[-1].cells[-1]


def matrices(grid: Grid, rows: Sequence[Row]) -> list[Matrix]:
    """Return one matrix per system, in the order of `rows`."""
    heat = heat_rows(rows, [entry.source for entry in grid.entries])
    width = len(grid.lines[0])
    return [
        Matrix(
            row, [MatrixLine(line[0].outer, row_heat[i * width : (i + 1) * width]) for i, line in enumerate(grid.lines)]
        )
        for row, row_heat in zip(rows, heat, strict=True)
    ]


@dataclass(frozen=True)
class Leader:
    """The best systems of one cell. names: several if systems are tied; empty if no system has a value."""

    entry: MatrixEntry
    score: ShownScore
    shade: str
    names: Sequence[str]


def leaders(grid: Grid, matrices: Sequence[Matrix]) -> list[tuple[str | None, list[Leader]]]:
    """Return (outer value, leaders of the cells) for each line of the grid."""
    return [
        (
            line[0].outer,
            [_leader(entry, [(m.row, m.lines[i].cells[j]) for m in matrices]) for j, entry in enumerate(line)],
        )
        for i, line in enumerate(grid.lines)
    ]


def _leader(entry: MatrixEntry, heat_cells: Sequence[tuple[Row, HeatCell]]) -> Leader:
    best = [(row, heat) for row, heat in heat_cells if heat.best]
    score = best[0][1].score if best else NO_SCORE
    return Leader(entry, score, shade(score.value, entry.source.measure), [row.system for row, _ in best])
