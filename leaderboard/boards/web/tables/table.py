"""The table of a board's page: which columns are shown, what their headings offer, and the rows' cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.http import HttpRequest

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, Column, Page
from leaderboard.boards.queries.columns import SORTABLE, RowColumn, page_columns
from leaderboard.boards.web.tables import cost_columns
from leaderboard.boards.web.tables.cost_columns import CostColumn
from leaderboard.boards.web.tables.sorting import Heading


def direction(order: str) -> Callable[[Column], bool]:
    """Whether a column goes from high to low: as `order` says, asc or desc, else its best first."""
    said = {"asc": False, "desc": True}

    def descending(column: Column) -> bool:
        return said.get(order, column.best_first or _is_date(column.name))

    return descending


def names(asked: Iterable[str]) -> list[str]:
    """The columns of `?columns=a,b` and of `?columns=a&columns=b`, which a form sends."""
    return [name for part in asked for name in part.split(",") if name]


@dataclass(frozen=True)
class Table:
    """shown: the names of the columns that are shown. all: of those that there are."""

    page: Page
    all: Sequence[str]
    shown: Sequence[str]

    @classmethod
    def of(cls, request: HttpRequest, page: Page) -> Table:
        """What `?columns=` names of those that there are; else all, of a slice those that were told of it."""
        board, slice_ = page.board, page.wanted.slice_
        before, after = ([one.name for one in columns] for columns in page_columns(board.phase))
        known = [*before, *(measure.name for measure in board.measures), *board.cost_kinds, *after]
        wanted = names(request.GET.getlist("columns"))
        untold = {one.name for one in board.measures if slice_ and board.n(one.name, slice_) is None}
        told = [name for name in known if name not in untold or name == board.primary]
        return cls(page, known, [name for name in known if name in wanted] or told)

    @property
    def board(self) -> Board:
        return self.page.board

    @cached_property
    def measures(self) -> list[tuple[Measure, Heading, int | None]]:
        """Each measure that is shown with its heading, and how many units it rests on."""
        slice_ = self.page.wanted.slice_
        shown = [measure for measure in self.board.measures if measure.name in self.shown]
        return [(one, self._heading(one.name, _best_first(one)), self.board.n(one.name, slice_)) for one in shown]

    @cached_property
    def costs(self) -> list[tuple[CostColumn, Heading]]:
        columns = [column for column in cost_columns.columns(self.board) if column.kind in self.shown]
        return [(column, self._heading(column.kind, best_first=False)) for column in columns]

    @property
    def no_costs(self) -> list[str]:
        return cost_columns.reasons(self.board.rows, [column for column, _ in self.costs])

    @property
    def system(self) -> Heading:
        return self._heading("system", best_first=False)

    @cached_property
    def before(self) -> list[tuple[RowColumn, Heading | None]]:
        """The columns of `row_columns` before the scores that are shown, with the headings of those to sort by."""
        return self._headed(page_columns(self.board.phase)[0])

    @cached_property
    def after(self) -> list[tuple[RowColumn, Heading | None]]:
        """The same after the scores and costs."""
        return self._headed(page_columns(self.board.phase)[1])

    def _headed(self, columns: Sequence[RowColumn]) -> list[tuple[RowColumn, Heading | None]]:
        shown = [one for one in columns if one.name in self.shown]
        return [(one, self._heading(one.name, _is_date(one.name)) if one.path else None) for one in shown]

    def _heading(self, name: str, best_first: bool) -> Heading:
        wanted = self.page.wanted
        active = name == wanted.sort.name
        # A second click on the column in force turns it round.
        descending = not wanted.descending if active else best_first
        state = ("descending" if wanted.descending else "ascending") if active else "none"
        return Heading(name, state, name, "desc" if descending else "asc")


def _is_date(name: str) -> bool:
    """Of dates the latest come first."""
    return name in SORTABLE and SORTABLE[name].kind is datetime


def _best_first(measure: Measure) -> bool:
    return measure.higher_is_better is not False
