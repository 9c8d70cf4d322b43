"""Pivots of a board: systems as rows, measures on slices as columns, scores as cells.

The views by slice, by two dimensions and by track plan their columns, in one or more groups, and all are made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, Row, SliceValue
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.tables.heat_rows import HeatCell, Source, heat_rows, reasons
from leaderboard.boards.web.tables.pages import TablePage
from leaderboard.boards.web.tables.sorting import Heading, Key, Sorting, by_name

Sorts = Mapping[str, Heading]


@dataclass(frozen=True)
class Planned:
    """A column without its link: sort key (unique in the pivot), title, the measure and slice of its cells.

    n: gold units; None: it is not scored.
    """

    key: str
    title: str
    source: Source
    n: int | None


Plan = Sequence[tuple[str, Sequence[Planned]]]
"""Title and columns of each group."""


@dataclass(frozen=True)
class Column:
    """A column of a pivot. heading: its link; None: the pivot is not sorted by links."""

    title: str
    source: Source
    n: int | None
    heading: Heading | None

    @property
    def is_summary(self) -> bool:
        return not self.source.slice


@dataclass(frozen=True)
class Group:
    """Columns under one heading. n: gold units of every column; None: the columns differ, or nothing was scored."""

    title: str
    columns: Sequence[Column]
    n: int | None


@dataclass(frozen=True)
class Pivot:
    """One page of a pivot.

    rows: each system with one list of cells per group. headings: of all columns and of `system`, by sort key; empty if
    the pivot is not sorted by links. reasons: why values are missing, without repetitions. has_intervals: some system
    has an interval in some column; the Ladder reveals none, and some custom scorers return none.
    """

    groups: Sequence[Group]
    rows: Sequence[tuple[Row, Sequence[Sequence[HeatCell]]]]
    headings: Sorts
    reasons: Sequence[str]
    has_intervals: bool

    @property
    def is_grouped(self) -> bool:
        return len(self.groups) > 1

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the first group: all of them, if the plan has one group."""
        return self.groups[0].columns

    def detail(self, index: int) -> tuple[Group, list[tuple[Row, Sequence[HeatCell]]]]:
        """Return the group at an index, with (row, cells in the group) of every system in the order of `rows`."""
        return self.groups[index], [(row, cells[index]) for row, cells in self.rows]


def sorted_by(request: HttpRequest, columns: Iterable[Planned], default: str) -> Sorting:
    """Return the order that the query string requests: by the key of a column, or by `system`; else by `default`."""
    keys = {column.key: column.source.key for column in columns}
    return Sorting.from_request(request, keys | {"system": Key(by_name, best_first=False)}, default)


def pivot(rows: Sequence[Row], plan: Plan, headings: Sorts | None = None, cut: TablePage | None = None) -> Pivot:
    """Return a pivot of sorted rows. The best value of a column is determined among all of them.

    headings: by sort key; None: the columns are no links. cut: the page to return; None: all rows.
    """
    shown = rows if cut is None else cut.of(rows)
    sources = [column.source for _, columns in plan for column in columns]
    cells = heat_rows(rows, sources, shown)
    headings = headings or {}
    groups = [
        Group(
            title,
            [Column(c.title, c.source, c.n, headings.get(c.key)) for c in columns],
            columns[0].n if len({c.n for c in columns}) == 1 else None,
        )
        for title, columns in plan
    ]
    return Pivot(
        groups,
        [(row, _split(line, groups)) for row, line in zip(shown, cells, strict=True)],
        headings,
        reasons(cells),
        any(source.score(row).low is not None for row in rows for source in sources),
    )


def requested(request: HttpRequest, offered: Sequence[Measure]) -> Measure | None:
    """Return the measure that `?measure=` names, else the first of those offered; None if there are none."""
    named = (measure for measure in offered if measure.name == request.GET.get("measure"))
    return next(named, offered[0] if offered else None)


def with_units(values: Sequence[SliceValue]) -> tuple[Sequence[SliceValue], list[str]]:
    """Return (the values of a dimension that have gold units, the names of its other values).

    If no value has units, return (all values, []).
    """
    known = [value for value in values if value.n]
    return (known, [value.value for value in values if not value.n]) if known else (values, [])


def page_context(board: Board) -> dict[str, object]:
    """Return the template context that all pages with pivots share."""
    benchmark = board.phase.benchmark
    of_board = {"board": board, "phase": board.phase, "benchmark": benchmark, "task": TASKS[benchmark.task]}
    return of_board | {"boards": other_boards(board)}


def _split(heat_cells: Sequence[HeatCell], groups: Sequence[Group]) -> list[Sequence[HeatCell]]:
    cells_by_group, start = [], 0
    for group in groups:
        cells_by_group.append(heat_cells[start : start + len(group.columns)])
        start += len(group.columns)
    return cells_by_group
