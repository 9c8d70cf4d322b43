"""The table of a board's page: which columns are shown, what their headings offer, and the rows' cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.http import HttpRequest

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, Column, Page
from leaderboard.boards.web.tables import cost_columns
from leaderboard.boards.web.tables.cost_columns import CostColumn
from leaderboard.boards.web.tables.sorting import Heading

RECEIVED = "received_at"
TRACK_RANK = "track_rank"


def direction(order: str) -> Callable[[Column], bool]:
    """Whether a column goes from high to low: as `order` says, asc or desc, else its best first."""
    said = {"asc": False, "desc": True}

    def descending(column: Column) -> bool:
        return said.get(order, column.best_first or column.name in (RECEIVED, "released_at"))

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
        within = [TRACK_RANK] if board.phase.tracks else []
        known = [*within, *(measure.name for measure in board.measures), *board.cost_kinds, RECEIVED]
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

    @property
    def tells_tracks(self) -> bool:
        """Whether a system's rank in its track is shown."""
        return TRACK_RANK in self.shown

    @property
    def received(self) -> Heading | None:
        return self._heading(RECEIVED, best_first=True) if RECEIVED in self.shown else None

    def _heading(self, name: str, best_first: bool) -> Heading:
        wanted = self.page.wanted
        active = name == wanted.sort.name
        # A second click on the column in force turns it round.
        descending = not wanted.descending if active else best_first
        state = ("descending" if wanted.descending else "ascending") if active else "none"
        return Heading(name, state, name, "desc" if descending else "asc")


def _best_first(measure: Measure) -> bool:
    return measure.higher_is_better is not False
