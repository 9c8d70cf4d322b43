"""Pages of a board: all rows in the order of its primary measure, or at most MOST_ROWS filtered and sorted by others.

A board of any size is paged by the primary measure, whose values the standings hold: the database selects the rows of
the page. Any other query reads the rows that its filters may leave, or else the best of the board, and selects here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

from django.db.models import QuerySet

from leaderboard.boards.disclosure import costs
from leaderboard.boards.queries import selection
from leaderboard.boards.queries.as_of import PastBoard, day_in, head_at, standings_of
from leaderboard.boards.queries.board import Board, Version
from leaderboard.boards.queries.columns import SORTABLE
from leaderboard.boards.queries.facts import Fact
from leaderboard.boards.queries.facts import Value as FactValue
from leaderboard.boards.queries.ladder_bounds import with_parts
from leaderboard.boards.queries.reading import Line, by_value, head_of, in_order_of_value, lines_of, rows_of, scores_of
from leaderboard.boards.queries.request import MOST_ROWS, BoardQuery, Column, first_column
from leaderboard.boards.queries.rows import NO_SCORE, Row, ShownScores, in_order
from leaderboard.boards.queries.slices import WHOLE, Slice
from leaderboard.models import Phase

Scores = Mapping[int, ShownScores]
"""The scores on one slice, by release id."""
Value = Callable[[Row], Any]
"""Function from a row to its value in a column, by which rows are sorted and filtered; None without a value."""


@dataclass(frozen=True)
class Page:
    """One page of a board. board: with the rows of this page only, sorted. n: number of rows that pass the filters."""

    board: Board
    query: BoardQuery
    n: int

    @property
    def last(self) -> int:
        return max(1, ceil(self.n / self.query.size))

    @property
    def before(self) -> int | None:
        """Number of the previous page; None on page 1; the number of the last page if this page is beyond the last."""
        return min(self.query.page - 1, self.last) if self.query.page > 1 else None

    @property
    def after(self) -> int | None:
        return self.query.page + 1 if self.query.page < self.last else None


def read_head(phase: Phase, as_of: str, version: Version | None = None) -> Board:
    """Return a board without its rows; raise InvalidQuery if `as_of` is not a valid day.

    as_of: a day as YYYY-MM-DD; the board is the one at the end of that day in UTC. Empty: now. version: (gold version's
    number, task version); None: the current board.
    """
    day = day_in(as_of)
    return head_of(phase, version) if day is None else head_at(phase, day, version)


def page_of(board: Board, query: BoardQuery, *, within: Collection[str] | None = (), viewer: Any = None) -> Page:
    """Return the page of a board that a query selects; `board` comes from `read_head`, without rows.

    within: dimensions whose slices are read in addition to the requested slice; None: all.
    viewer: the user, who sees the names of anonymous systems if permitted; None: the public.
    """
    if board.leaderboard is None:
        return Page(board, query, 0)
    known: dict[Slice, Scores] = {}
    if _is_by_value(board, query):
        n, lines = _by_value(board, query)
    else:
        n, lines = _selected(board, query, viewer, known)
    needs_more = within is None or with_parts(board.leaderboard, within)
    scores = None if needs_more else known.get(query.slice_)
    rows = rows_of(board, lines, within=within, slice_=query.slice_, scores=scores, viewer=viewer)
    return Page(replace(board, rows=rows), query, n)


def _is_by_value(board: Board, query: BoardQuery) -> bool:
    """Return whether a query sorts and filters a board by nothing but the overall values of its primary measure."""
    keys = {column.key for column in (query.sort, query.by) if column}
    return keys == {(board.primary, WHOLE)} and not query.selects_systems


def _by_value(board: Board, query: BoardQuery) -> tuple[int, list[Line]]:
    """Return (number of rows that pass the filters, the lines of the page), selected by the database."""
    standings, (least, most) = standings_of(board), query.bounds
    if least is not None:
        standings = standings.filter(value__gte=least)
    if most is not None:
        standings = standings.filter(value__lte=most)
    n = standings.order_by().count() if query.by else board.summary.n_rows
    start = (query.page - 1) * query.size
    on_page = max(0, min(query.size, n - start))
    ordered = in_order_of_value(standings, descending=query.descending)
    if board.summary.n_rows <= MOST_ROWS:
        return n, _lines(board, ordered[start : start + on_page])
    page = by_value(standings, on_page, start=start, descending=query.descending) if on_page else []
    return n, _lines(board, ordered.filter(pk__in=page))


def _selected(board: Board, query: BoardQuery, viewer: Any, known: dict[Slice, Scores]) -> tuple[int, list[Line]]:
    """Return (number of rows that pass the filters, the lines of the page), selected from those of `_candidates`.

    known: the scores on slices that are read for it are added here.
    """
    lines = {line.system: line for line in _lines(board, _candidates(board, query, viewer))}
    # A hidden name or fact of an anonymous system is not in its row, so nobody finds the system by it.
    rows = rows_of(board, list(lines.values()), scores={}, viewer=viewer)
    passes = [*_conditions(query, viewer)]
    if query.by is not None:
        bounded, (least, most) = _values_of(query.by, lines, known), query.bounds
        passes.append(lambda row: _is_within(bounded(row), least, most))
    rows = [row for row in rows if all(condition(row) for condition in passes)]
    rows.sort(key=lambda row: (row.received_at, row.system_id))
    rows = in_order(rows, _values_of(query.sort, lines, known), descending=query.descending)
    start = (query.page - 1) * query.size
    return len(rows), [lines[row.system_id] for row in rows[start : start + query.size]]


def _candidates(board: Board, query: BoardQuery, viewer: Any) -> QuerySet[Any]:
    """Return at most MOST_ROWS standings: all of the board, those that some filter may leave, or the best."""
    standings = standings_of(board)
    if board.summary.n_rows <= MOST_ROWS:
        return standings
    systems = selection.few_systems(board, query, viewer, MOST_ROWS)
    if systems is not None:
        return standings.filter(system__in=systems)
    return standings.filter(pk__in=by_value(standings, MOST_ROWS, descending=first_column(board).best_first))


def _lines(board: Board, standings: QuerySet[Any]) -> list[Line]:
    lines = lines_of(standings)
    return board.ranked(lines) if isinstance(board, PastBoard) else lines


def _conditions(query: BoardQuery, viewer: Any) -> Iterator[Callable[[Row], bool]]:
    """Yield the query's conditions of a row, except for that of its bounds."""
    if query.own:
        own = set(selection.own_systems(viewer))
        yield lambda row: row.system_id in own
    if query.kind:
        yield lambda row: row.kind == query.kind
    if query.track:
        yield lambda row: row.track == query.track
    if query.words:
        words = [word.casefold() for word in query.words]
        yield lambda row: all(word in row.system.casefold() or word in row.team.casefold() for word in words)
    for fact, answer in query.facts:
        yield partial(_has_fact, fact=fact, answer=answer)


def _has_fact(row: Row, *, fact: Fact, answer: FactValue) -> bool:
    """Return whether a row has the value `answer` of a fact, or has a text in which it occurs."""
    value = row.facts.get(fact.name)
    if isinstance(answer, str):
        return isinstance(value, str) and answer.casefold() in value.casefold()
    return value == answer


def _is_within(value: float | None, least: float | None, most: float | None) -> bool:
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def _values_of(column: Column, lines: Mapping[int, Line], known: dict[Slice, Scores]) -> Value:
    """Return a function from a row to its value in a column; texts are in the form in which they are compared.

    lines: of the rows, by system id. known: the scores that were read, by slice; those of the column are added.
    """
    if column.key is not None:
        measure, slice_ = column.key
        if slice_ not in known:
            known[slice_] = scores_of([line.release for line in lines.values()], slice_=slice_)
        scores = known[slice_]
        return lambda row: scores.get(lines[row.system_id].release, {}).get((measure, slice_), NO_SCORE).value
    if column.name in costs.KINDS:
        return lambda row: row.cost_of(column.name)
    fact = column.fact
    value: Value = (lambda row: row.facts.get(fact.name)) if fact else SORTABLE[column.name].value
    return lambda row: text.casefold() if isinstance(text := value(row), str) else text
