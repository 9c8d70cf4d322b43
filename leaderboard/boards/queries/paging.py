"""Pages of a board, filtered, ordered and limited by the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

from django.db.models import Case, F, FilteredRelation, FloatField, Func, Q, QuerySet, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Lower, NullIf

from leaderboard.boards.disclosure import costs
from leaderboard.boards.queries import selection
from leaderboard.boards.queries.as_of import PastBoard, day_in, head_at, standings_of
from leaderboard.boards.queries.board import Board, Version
from leaderboard.boards.queries.columns import SORTABLE
from leaderboard.boards.queries.facts import Fact
from leaderboard.boards.queries.ladder_bounds import with_parts
from leaderboard.boards.queries.reading import (
    DISQUALIFIED_LAST,
    FIELDS,
    TEXTS,
    as_text,
    build_rows,
    by_value,
    head_of,
    read_json,
    scores_of,
)
from leaderboard.boards.queries.request import MOST_ROWS, BoardQuery, Column, first_column
from leaderboard.boards.queries.rows import ShownScores, scores_on
from leaderboard.boards.queries.slices import WHOLE, Slice, slice_key
from leaderboard.boards.queries.visible_boards import read_once
from leaderboard.core.compiled_queries import PreparedQuery
from leaderboard.core.names.anonymous import display_names, hidden_from
from leaderboard.models import Phase, Standing

NAMES = ("system", "team")
"""Columns whose real names are hidden from some viewers while a system is anonymous."""

Record = tuple[Sequence[Any], ShownScores]
"""The values of FIELDS and TEXTS of one standing, and its scores on the shown slice."""

Rows = QuerySet[Any]
"""Queryset of standings, to which functions of this module add aliases."""


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
    n = board.summary.n_rows
    if n > MOST_ROWS:
        n, records = _of_large_board(board, query, viewer)
    elif query.filters or query.sort.name in NAMES or query.sort.fact or board.as_of:
        standings = _filtered(_prepared(board, query, viewer), query, viewer)
        n = standings.count() if query.filters else n
        records = _records(_lines(standings, query), query)
    else:
        records = _same_for_all(board.leaderboard, query, _is_by_rank(board, query))
    if isinstance(board, PastBoard):
        records = [((board.rank(merit), *line), shown) for (merit, *line), shown in records]
    releases = [line[FIELDS.index("release_id")] for line, _ in records]
    within = with_parts(board.leaderboard, within)
    scores = {} if within == () else scores_of(releases, within)
    for release, (_, shown_scores) in zip(releases, records, strict=True):
        scores.setdefault(release, {}).update(shown_scores)
    summary = board.summary
    rows = build_rows(
        board.leaderboard,
        board.phase,
        (line for line, _ in records),
        scores,
        shared=summary.tied_ranks,
        track_ranks=summary.track_ranks,
        viewer=viewer,
    )
    return Page(replace(board, rows=rows), query, n)


def _prepared(board: Board, query: BoardQuery, viewer: Any) -> Rows:
    """Return the board's standings with all aliases that filters and order of the query need."""
    return _named(_sliced(_with_facts(board, query, viewer), query), board, query, viewer)


def _of_large_board(board: Board, query: BoardQuery, viewer: Any) -> tuple[int, Sequence[Record]]:
    """Return (number of rows that pass the filters, the records of a page) of a board with more than MOST_ROWS rows.

    All rows can be paged by the primary measure, whose values the standings hold. Any other query reads at most
    MOST_ROWS rows: those that one of its filters leaves, or else the best of the board.
    """
    start = (query.page - 1) * query.size
    if _is_by_value(board, query):
        rows = _bounded(standings_of(board), query, "value")
        n = rows.order_by().count() if query.by else board.summary.n_rows
        on_page = max(0, min(query.size, n - start))
        page = by_value(rows, on_page, start=start, descending=query.descending) if on_page else []
        standings = _prepared(board, query, viewer).filter(pk__in=page)
        return n, _records(_lines(standings, replace(query, page=1)), query)
    systems = selection.few_systems(board, query, viewer, MOST_ROWS)
    if systems is None and any(len(word) > 1 for word in query.words):
        # The names are read one after the other, until there are too many that match.
        matches = _filtered(_prepared(board, replace(query, sort=first_column(board), by=None), viewer), query, viewer)
        systems = list(matches.order_by().values_list("system", flat=True)[: MOST_ROWS + 1])
        systems = systems if len(systems) <= MOST_ROWS else None
    if systems is None:
        best = by_value(standings_of(board), MOST_ROWS, descending=first_column(board).best_first)
        limited = _prepared(board, query, viewer).filter(pk__in=best)
    else:
        limited = _prepared(board, query, viewer).filter(system__in=systems)
    standings = _filtered(limited, query, viewer)
    return standings.count() if query.filters else MOST_ROWS, _records(_lines(standings, query), query)


def _is_by_value(board: Board, query: BoardQuery) -> bool:
    """Return whether a query sorts and filters a board by nothing but the overall values of its primary measure."""
    keys = {column.key for column in (query.sort, query.by) if column}
    return keys == {(board.primary, WHOLE)} and not query.selects_systems


@read_once(16)
def _same_for_all(board: int, query: BoardQuery, is_by_rank: bool) -> Sequence[Record]:
    """Return the records of a page that is the same for all viewers.

    board: primary key. is_by_rank: as for `_all_of`.
    """
    return _records(_all_of(query, is_by_rank)(board), query)


def _records(lines: Iterable[Sequence[Any]], query: BoardQuery) -> Sequence[Record]:
    return [(line[:-1], scores_on(query.slice_, read_json(line[-1]) if line[-1] else {})) for line in lines]


@lru_cache(maxsize=256)
def _all_of(query: BoardQuery, is_by_rank: bool) -> PreparedQuery[Any]:
    """Return a PreparedQuery that takes a board's pk and returns the rows of a page that is the same for all viewers.

    is_by_rank: the rows are sorted as they are ranked. Then the first n rows are among those with no rank and those
    ranked n or better, because a rank is at most the row's position; the database need not sort all others.
    """
    first = Q(rank__lte=query.page * query.size) | Q(rank=None) if is_by_rank else Q()
    return PreparedQuery(
        lambda board: _lines(_sliced(Standing.objects.filter(first, leaderboard=board), query), query), int
    )


def _is_by_rank(board: Board, query: BoardQuery) -> bool:
    return query.sort == first_column(board) and query.descending == query.sort.best_first


def _lines(standings: Rows, query: BoardQuery) -> Rows:
    start = (query.page - 1) * query.size
    lines = _ordered(standings, query).values_list(*FIELDS, *as_text(*TEXTS, "shown_slice__scores"))
    return lines[start : start + query.size]


def _sliced(standings: Rows, query: BoardQuery) -> Rows:
    """Return the standings with aliases for the values that the query shows, sorts by and filters by.

    shown_slice: the scores on the requested slice. sorted: the value in the column to sort by. bounded: the value in
    the column to filter by.
    """
    standings = standings.alias(shown_slice=_slice_relation(query.slice_))
    for alias, column in (("sorted", query.sort), ("bounded", query.by)):
        if column is not None:
            standings = _valued(standings, query, column, alias)
    return standings


def _slice_relation(slice_: Slice) -> FilteredRelation:
    return FilteredRelation("release__slices", condition=Q(release__slices__slice_key=slice_key(slice_)))


def _valued(standings: Rows, query: BoardQuery, column: Column, alias: str) -> Rows:
    """Return the standings with the value in a score, cost or fact column as `alias`; other columns need no alias."""
    if column.key is not None:
        measure, slice_ = column.key
        relation = "shown_slice"
        if slice_ != query.slice_:
            relation = f"{alias}_on"
            standings = standings.alias(**{relation: _slice_relation(slice_)})
        return standings.alias(**{alias: _number("0", KeyTransform(measure, f"{relation}__scores"))})
    if column.name in costs.KINDS:
        return standings.alias(**{alias: _number(column.name, F("release__cost"))})
    if column.fact is not None:
        return standings.alias(**{alias: F(_alias(column.fact))})
    return standings


def _number(key: str, of: Combinable | KeyTransform) -> Cast:
    # SQLite returns JSON null as the text "null".
    return Cast(NullIf(KeyTextTransform(key, of), Value("null")), FloatField())


def _with_facts(board: Board, query: BoardQuery, viewer: Any) -> Rows:
    """Return the board's standings with an alias for each fact that the query sorts or filters by.

    The alias is NULL for systems whose facts the viewer may not see, and for values of another kind than the fact's.
    """
    standings = standings_of(board)
    columns = [column.fact for column in (query.sort, query.by) if column]
    used = {fact for fact in (*columns, *(fact for fact, _ in query.facts)) if fact}
    if not used:
        return standings
    hidden = hidden_from(viewer, board.phase.benchmark, "system")
    for fact in used:
        of_kind = f"type_{fact.name}"
        standings = standings.alias(**{of_kind: _JsonType(F("system__facts"), Value(fact.name))})
        text = Cast(KeyTextTransform(fact.name, "system__facts"), TextField())
        shown = _number(fact.name, F("system__facts")) if fact.is_number else text
        # A value of another kind, which another benchmark asked for by the same name, counts as none.
        whens = [When(**{f"{of_kind}__in": _JSON_TYPES[fact.kind]}, then=shown)]
        whens = [When(hidden, then=None), *whens] if hidden else whens
        output = FloatField() if fact.is_number else TextField()
        standings = standings.alias(**{_alias(fact): Case(*whens, default=None, output_field=output)})
    return standings


class _JsonType(Func):
    """SQL function: the database's name for the type of the value under a key of a JSON object; NULL without the key.

    The key has only letters, digits and underscores.
    """

    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="JSON_TYPE(%(expressions)s)", arg_joiner=", '$.' || ", **extra
        )

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="JSONB_TYPEOF(%(expressions)s)", arg_joiner=" -> ", **extra)


_JSON_TYPES = {
    "number": ("number", "integer", "real"),
    "text": ("string", "text"),
    "yes-no": ("boolean", "true", "false"),
}
"""Kind of a fact -> its JSON types, as PostgreSQL and SQLite name them."""


def _alias(fact: Fact) -> str:
    return f"shown_fact_{fact.name}"


def _named(standings: Rows, board: Board, query: BoardQuery, viewer: Any) -> Rows:
    """Annotate the standings with the names shown to the viewer, if the query searches or sorts by name.

    So a query never matches or sorts by a hidden name.
    """
    if not query.words and query.sort.name not in NAMES:
        return standings
    return standings.alias(**display_names(viewer, board.phase.benchmark, "system"))


def _filtered(standings: Rows, query: BoardQuery, viewer: Any) -> Rows:
    if query.own:
        standings = standings.filter(system__in=selection.own_systems(viewer))
    if query.kind:
        standings = standings.filter(system__kind=query.kind)
    if query.track:
        standings = standings.filter(release__submission__track=query.track)
    for word in query.words:
        standings = standings.filter(Q(shown_system__icontains=word) | Q(shown_team__icontains=word))
    for fact, answer in query.facts:
        if isinstance(answer, bool):  # SQLite returns JSON booleans as 1 and 0
            texts = ("true", "1") if answer else ("false", "0")
            standings = standings.filter(**{f"{_alias(fact)}__in": texts})
        else:
            lookup = "icontains" if isinstance(answer, str) else "exact"
            standings = standings.filter(**{f"{_alias(fact)}__{lookup}": answer})
    return _bounded(standings, query, "bounded")


def _bounded(standings: Rows, query: BoardQuery, path: str) -> Rows:
    """Return the standings whose value in the field or alias `path` lies within the query's bounds."""
    least, most = query.bounds
    if least is not None:
        standings = standings.filter(**{f"{path}__gte": least})
    return standings if most is None else standings.filter(**{f"{path}__lte": most})


def _ordered(standings: Rows, query: BoardQuery) -> Rows:
    """Return the standings in the order of the query, as `leaderboard.boards.queries.rows.in_order` sorts rows.

    First rows with a value, then those without one, then all disqualified rows; rows with equal values in the order in
    which their submissions were received.
    """
    column = query.sort
    path = SORTABLE[column.name].path if column.name in SORTABLE else "sorted"
    is_text = column.name in NAMES or (column.fact is not None and not column.fact.is_number)
    key = Lower(path) if is_text else F(path)
    by_key = key.desc(nulls_last=True) if query.descending else key.asc(nulls_last=True)
    return standings.order_by(DISQUALIFIED_LAST, by_key, "release__submission__received_at", "system_id")
