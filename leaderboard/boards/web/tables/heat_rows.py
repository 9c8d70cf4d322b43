"""Rows of coloured cells: each value with its shade, whether it leads its column, and why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.measures.base import Measure
from leaderboard.boards.queries import NO_CELL, Cell, Row, Slice
from leaderboard.boards.web.charts.heat import shade
from leaderboard.boards.web.tables.sorting import Key

NOT_SCORED = "not scored"
NO_UNIT = "no gold unit"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a column's cells come from."""

    measure: Measure
    slice: Slice

    def cell(self, row: Row) -> Cell:
        return row.cell(self.measure.name, self.slice)

    @property
    def best_first(self) -> bool:
        return self.measure.higher_is_better is not False

    @property
    def key(self) -> Key:
        """Sorting by it, best first."""
        return Key(lambda row: self.cell(row).value, self.best_first)

    def best(self, rows: Sequence[Row]) -> float | None:
        """The best value among the systems that compete; where none does, among all. None: nothing is better here."""
        if self.measure.higher_is_better is None:
            return None
        competing = [row for row in rows if row.competes] or rows
        values = [value for row in competing if (value := self.cell(row).value) is not None]
        return (max if self.best_first else min)(values, default=None)


@dataclass(frozen=True, slots=True)
class HeatCell:
    """shade: a class, empty for none. best: nobody who competes does better. reason: why there is no value."""

    cell: Cell
    shade: str
    best: bool
    reason: str


def heat_rows(
    rows: Sequence[Row], sources: Sequence[Source], shown: Sequence[Row] | None = None
) -> list[list[HeatCell]]:
    """One list of cells for each row of `shown` (None: all of `rows`), in the order of both; what is best is so among
    all of `rows`."""
    shown = rows if shown is None else shown
    columns = [_column(rows, source, shown) for source in sources]
    return [list(cells) for cells in zip(*columns, strict=True)] if columns else [[] for _ in shown]


def among(rows: Sequence[Row]) -> str:
    """Who the best is chosen from, in words; nothing where that is everybody."""
    competing = sum(row.competes for row in rows)
    return "among systems that compete" if 0 < competing < len(rows) else ""


def _column(rows: Sequence[Row], source: Source, shown: Sequence[Row]) -> list[HeatCell]:
    best = source.best(rows)
    competing = any(row.competes for row in rows)
    cells = [source.cell(row) for row in shown]
    is_scored = any(source.cell(row) is not NO_CELL for row in rows)
    return [
        HeatCell(
            cell,
            shade(cell.value, source.measure),
            best is not None and cell.value == best and (row.competes or not competing),
            _reason(cell, source.measure, is_scored),
        )
        for row, cell in zip(shown, cells, strict=True)
    ]


def _reason(cell: Cell, measure: Measure, is_scored: bool) -> str:
    """is_scored: some system has a cell in this column. Without one there is nothing to score: gold decides."""
    if cell.value is not None:
        return ""
    if cell is NO_CELL and is_scored:
        return NOT_SCORED
    return measure.none_where if cell.n else NO_UNIT


def reasons(rows: Iterable[Iterable[HeatCell]]) -> list[str]:
    """Why cells of a table have no value, each reason once, in the order in which they first stand."""
    return list(dict.fromkeys(heat.reason for cells in rows for heat in cells if heat.reason))
