"""Pages of a board, filtered, ordered and limited by the database."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

from django.db.models import Case, F, FilteredRelation, FloatField, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Lower, NullIf

from leaderboard.boards.disclosure import costs
from leaderboard.boards.queries.as_of import day_in, head_at, rows_at
from leaderboard.boards.queries.board import Board, Summary, Version
from leaderboard.boards.queries.columns import SORTABLE
from leaderboard.boards.queries.reading import FIELDS, TEXTS, as_text, cells_of, head_of, made, read_json
from leaderboard.boards.queries.request import BoardQuery, Column, applied
from leaderboard.boards.queries.rows import Slice, cells_on, key_of
from leaderboard.core.compiled_queries import PreparedQuery
from leaderboard.core.names.anonymous import display_names
from leaderboard.models import Phase, Standing

NAMES = ("system", "team")
"""Columns that may be hidden from some readers."""

Rows = QuerySet[Any]
"""Standings with the aliases that are added below."""


@dataclass(frozen=True)
class Page:
    """board: with the rows of this page only, in order. n: number of rows on all pages, after filtering."""

    board: Board
    wanted: BoardQuery
    n: int

    @property
    def last(self) -> int:
        return max(1, ceil(self.n / self.wanted.size))

    @property
    def before(self) -> int | None:
        """Number of the previous page, or None; for a page beyond the last one, the last."""
        return min(self.wanted.page - 1, self.last) if self.wanted.page > 1 else None

    @property
    def after(self) -> int | None:
        return self.wanted.page + 1 if self.wanted.page < self.last else None


def head_asked(phase: Phase, as_of: str, version: Version | None = None) -> Board:
    """Return a board without its rows: the current one, or as of the end of a day; raises AskedError."""
    day = day_in(as_of)
    return head_of(phase, version) if day is None else head_at(phase, day, version)


def page_of(board: Board, wanted: BoardQuery, *, within: Collection[str] | None = (), reader: Any = None) -> Page:
    """Return a page of a board that was read without rows.

    within: dimensions whose slices are read in addition to the requested one; None: all.
    """
    if board.leaderboard is None:
        return Page(board, wanted, 0)
    if board.as_of is not None:
        return _past(board, wanted, within, reader)
    n = board.summary.n_rows
    if wanted.filters or wanted.sort.name in NAMES:
        standings = _filtered(_named(_sliced(board.leaderboard.standings.all(), wanted), board, wanted, reader), wanted)
        n = standings.count() if wanted.filters else n
        lines = list(_lines(standings, wanted))
    else:
        lines = _all_of(wanted)(board.leaderboard.pk)
    releases = [line[FIELDS.index("release_id")] for line in lines]
    cells = {} if within == () else cells_of(releases, within)
    for release, line in zip(releases, lines, strict=True):
        cells.setdefault(release, {}).update(cells_on(wanted.slice_, read_json(line[-1]) if line[-1] else {}))
    without_cells, summary = (line[:-1] for line in lines), board.summary
    rows = made(board.phase, without_cells, cells, shared=summary.shared, places=summary.places, reader=reader)
    return Page(replace(board, rows=rows), wanted, n)


@lru_cache(maxsize=256)
def _all_of(wanted: BoardQuery) -> PreparedQuery[Any]:
    """Return a compiled query from a board's pk to the lines of a page that is the same for all readers."""
    return PreparedQuery(lambda board: _lines(_sliced(Standing.objects.filter(leaderboard=board), wanted), wanted), int)


def _lines(standings: Rows, wanted: BoardQuery) -> Rows:
    start = (wanted.page - 1) * wanted.size
    lines = _ordered(standings, wanted).values_list(*FIELDS, *as_text(*TEXTS, "here__cells"))
    return lines[start : start + wanted.size]


def _past(board: Board, wanted: BoardQuery, within: Collection[str] | None, reader: Any) -> Page:
    """Return a page of a board as of a past day, for which the database holds no standings."""
    dimensions = None if within is None else {*within, *wanted.dimensions}
    all_rows = rows_at(board, within=dimensions, reader=reader)
    rows = applied(all_rows, wanted)
    start = (wanted.page - 1) * wanted.size
    paged = replace(board, rows=rows[start : start + wanted.size], counted=Summary.of(all_rows))
    return Page(paged, wanted, len(rows))


def _sliced(standings: Rows, wanted: BoardQuery) -> Rows:
    """Join standings with their scores on the shown slice (`here`), and on those that are sorted and filtered by."""
    standings = standings.alias(here=_slice_relation(wanted.slice_))
    for alias, column in (("sorted", wanted.sort), ("bounded", wanted.by)):
        if column is not None:
            standings = _valued(standings, wanted, column, alias)
    return standings


def _slice_relation(slice_: Slice) -> FilteredRelation:
    return FilteredRelation("release__slices", condition=Q(release__slices__slice_key=key_of(slice_)))


def _valued(standings: Rows, wanted: BoardQuery, column: Column, alias: str) -> Rows:
    """Add the number of a score or cost column under `alias`; plain columns need none."""
    if column.key is not None:
        measure, slice_ = column.key
        relation = "here"
        if slice_ != wanted.slice_:
            relation = f"{alias}_on"
            standings = standings.alias(**{relation: _slice_relation(slice_)})
        return standings.alias(**{alias: _number("0", KeyTransform(measure, f"{relation}__cells"))})
    if column.name in costs.KINDS:
        return standings.alias(**{alias: _number(column.name, F("release__cost"))})
    return standings


def _number(key: str, of: Combinable | KeyTransform) -> Cast:
    # SQLite returns JSON null as the text "null".
    return Cast(NullIf(KeyTextTransform(key, of), Value("null")), FloatField())


def _named(standings: Rows, board: Board, wanted: BoardQuery, reader: Any) -> Rows:
    """Add the names that the reader is shown, if the query uses names: it must never match or sort by a hidden one."""
    if not wanted.words and wanted.sort.name not in NAMES:
        return standings
    return standings.alias(**display_names(reader, board.phase.benchmark, "system"))


def _filtered(standings: Rows, wanted: BoardQuery) -> Rows:
    if wanted.kind:
        standings = standings.filter(system__kind=wanted.kind)
    if wanted.track:
        standings = standings.filter(release__submission__track=wanted.track)
    for word in wanted.words:
        standings = standings.filter(Q(told_system__icontains=word) | Q(told_team__icontains=word))
    least, most = wanted.bounds
    if least is not None:
        standings = standings.filter(bounded__gte=least)
    return standings if most is None else standings.filter(bounded__lte=most)


def _ordered(standings: Rows, wanted: BoardQuery) -> Rows:
    """Order as `in_order` does: rows without a value last, then disqualified ones; ties by when they were received."""
    column = wanted.sort
    path = SORTABLE[column.name].path if column.name in SORTABLE else "sorted"
    key = Lower(path) if column.name in NAMES else F(path)
    by_value = key.desc(nulls_last=True) if wanted.descending else key.asc(nulls_last=True)
    disqualified = Case(When(disqualified="", then=0), default=1)
    return standings.order_by(disqualified, by_value, "release__submission__received_at", "system_id")
