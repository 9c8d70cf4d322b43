"""Tables with grouped columns: several measures per value of a dimension, or two dimensions, one within the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from leaderboard.boards.queries import Board, Row
from leaderboard.boards.web.tables.heat_rows import HeatCell, Source, heat_rows, reasons
from leaderboard.boards.web.tables.pages import TablePage
from leaderboard.boards.web.tables.sorting import Heading, Key, Sorting, by_name


@dataclass(frozen=True)
class PlannedColumn:
    """A column without its link: sort key (unique in the table), title, and the measure and slice of its cells."""

    key: str
    title: str
    source: Source
    n: int | None


@dataclass(frozen=True)
class Column:
    title: str
    source: Source
    n: int | None
    heading: Heading


@dataclass(frozen=True)
class Group:
    """Columns under one heading. n: gold units of every column; None: the columns differ, or nothing was scored."""

    title: str
    columns: Sequence[Column]
    n: int | None


@dataclass(frozen=True)
class GroupedTable:
    """A table with grouped columns.

    rows: each system with one list of cells per group. headings: of all columns, by sort key. reasons: why values are
    missing, without repetitions.
    """

    groups: Sequence[Group]
    rows: Sequence[tuple[Row, Sequence[Sequence[HeatCell]]]]
    headings: Mapping[str, Heading]
    reasons: Sequence[str]

    @property
    def has_intervals(self) -> bool:
        """True if any cell has an interval; the Ladder reveals none."""
        return any(heat.score.low is not None for _, groups in self.rows for cells in groups for heat in cells)

    def detail(self, index: int) -> tuple[Group, list[tuple[Row, Sequence[HeatCell]]]]:
        """Return the group at an index, with (row, cells in the group) of every system in the order of `rows`."""
        return self.groups[index], [(row, cells[index]) for row, cells in self.rows]


def sorted_by(request: HttpRequest, columns: Sequence[PlannedColumn], default: str) -> Sorting:
    """Return the order that the query string requests: by the key of a column, or by `system`; else by `default`."""
    keys = {column.key: column.source.key for column in columns}
    return Sorting.from_request(request, keys | {"system": Key(by_name, best_first=False)}, default)


def grouped_table(
    board: Board, sorting: Sorting, plan: Sequence[tuple[str, Sequence[PlannedColumn]]], cut: TablePage
) -> GroupedTable:
    """Return one page of a table. The best value of a column is determined among the systems of all pages.

    sorting: the order of the rows. plan: title and columns of each group. cut: the page to return.
    """
    rows = sorting.apply(board.rows)
    shown = cut.of(rows)
    cells = heat_rows(rows, [column.source for _, columns in plan for column in columns], shown)
    headings = sorting.headings
    groups = [
        Group(
            title,
            [Column(c.title, c.source, c.n, headings[c.key]) for c in columns],
            columns[0].n if len({c.n for c in columns}) == 1 else None,
        )
        for title, columns in plan
    ]
    return GroupedTable(
        groups,
        [(row, _split(line, groups)) for row, line in zip(shown, cells, strict=True)],
        headings,
        reasons(cells),
    )


def _split(heat_cells: Sequence[HeatCell], groups: Sequence[Group]) -> list[Sequence[HeatCell]]:
    cells_by_group, start = [], 0
    for group in groups:
        cells_by_group.append(heat_cells[start : start + len(group.columns)])
        start += len(group.columns)
    return cells_by_group
