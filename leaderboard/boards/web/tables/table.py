"""The table of a board's page: its visible columns and their sortable headings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.http import HttpRequest

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, Column, Page, facts
from leaderboard.boards.queries.columns import SORTABLE, RowColumn, page_columns
from leaderboard.boards.queries.facts import Fact
from leaderboard.boards.web.tables import cost_columns
from leaderboard.boards.web.tables.cost_columns import CostColumn
from leaderboard.boards.web.tables.sorting import Heading


def direction(order: str) -> Callable[[Column], bool]:
    """Return a function that returns True for a column that is to be sorted in descending order.

    order: "asc" or "desc"; any other text: each column in its own default direction, best values or latest dates first.
    """
    is_descending = {"asc": False, "desc": True}

    def descending(column: Column) -> bool:
        return is_descending.get(order, column.best_first or _is_date(column.name))

    return descending


def names(requested: Iterable[str]) -> list[str]:
    """Return the column names in the values of `?columns=`: `?columns=a,b`, or `?columns=a&columns=b` from a form."""
    return [name for part in requested for name in part.split(",") if name]


@dataclass(frozen=True)
class Table:
    """The table of one page of a board. all: names of all columns. shown: names of the visible columns."""

    page: Page
    all: Sequence[str]
    shown: Sequence[str]

    @classmethod
    def of(cls, request: HttpRequest, page: Page) -> Table:
        """Build the table with the columns that `?columns=` names; names of unknown columns are ignored.

        By default all columns are visible. On a slice, measures without a revealed score there are hidden, except the
        primary measure.
        """
        board, slice_ = page.board, page.query.slice_
        before, after = ([column.name for column in columns] for columns in page_columns(board.phase))
        known = [*before, *(measure.name for measure in board.measures), *board.cost_kinds, *facts_of(board), *after]
        requested = names(request.GET.getlist("columns"))
        hidden = {measure.name for measure in board.measures if slice_ and board.n(measure.name, slice_) is None}
        default = [name for name in known if name not in hidden or name == board.primary]
        return cls(page, known, [name for name in known if name in requested] or default)

    @property
    def board(self) -> Board:
        return self.page.board

    @cached_property
    def measures(self) -> list[tuple[Measure, Heading, int | None]]:
        """Each visible measure with its heading and its number of gold units on the slice."""
        slice_ = self.page.query.slice_
        shown = [measure for measure in self.board.measures if measure.name in self.shown]
        return [
            (measure, self._heading(measure.name, _best_first(measure)), self.board.n(measure.name, slice_))
            for measure in shown
        ]

    @cached_property
    def costs(self) -> list[tuple[CostColumn, Heading]]:
        columns = [column for column in cost_columns.columns(self.board) if column.kind in self.shown]
        return [(column, self._heading(column.kind, best_first=False)) for column in columns]

    @cached_property
    def facts(self) -> list[tuple[Fact, Heading]]:
        """Visible facts of systems with their headings, in the organisers' order."""
        shown = [fact for name, fact in facts_of(self.board).items() if name in self.shown]
        return [(fact, self._heading(fact.column, fact.is_number)) for fact in shown]

    @property
    def no_costs(self) -> list[str]:
        return cost_columns.reasons(self.board.rows, [column for column, _ in self.costs])

    @property
    def system(self) -> Heading:
        return self._heading("system", best_first=False)

    @cached_property
    def before(self) -> list[tuple[RowColumn, Heading | None]]:
        """Visible row columns before the scores; the heading is None for columns that cannot be sorted by."""
        return self._headed(page_columns(self.board.phase)[0])

    @cached_property
    def after(self) -> list[tuple[RowColumn, Heading | None]]:
        """Visible row columns after the scores and costs, with headings as in `before`."""
        return self._headed(page_columns(self.board.phase)[1])

    def _headed(self, columns: Sequence[RowColumn]) -> list[tuple[RowColumn, Heading | None]]:
        shown = [column for column in columns if column.name in self.shown]
        return [
            (column, self._heading(column.name, _is_date(column.name)) if column.sortable else None) for column in shown
        ]

    def _heading(self, name: str, best_first: bool) -> Heading:
        query = self.page.query
        active = name == query.sort.name
        # A click on the active column reverses the order.
        descending = not query.descending if active else best_first
        state = ("descending" if query.descending else "ascending") if active else "none"
        return Heading(name, state, name, "desc" if descending else "asc")


def facts_of(board: Board) -> dict[str, Fact]:
    """Return the facts that the board's benchmark asks for, by the names of their columns."""
    return {fact.column: fact for fact in facts.of(board.phase.benchmark)}


def _is_date(name: str) -> bool:
    """Return whether a column holds dates, which sort with the latest first."""
    return name in SORTABLE and SORTABLE[name].kind is datetime


def _best_first(measure: Measure) -> bool:
    return measure.higher_is_better is not False
