"""Filter form of a board: search, slices, kinds, bounds, columns and date, prefilled from the query string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils import timezone

from leaderboard.boards.queries import Board, Page, tracks
from leaderboard.boards.queries import columns as row_columns
from leaderboard.boards.queries.facts import Fact, shown
from leaderboard.boards.web.tables.cost_columns import ABOUT
from leaderboard.boards.web.tables.table import Table, facts_of
from leaderboard.models import System

PRESERVED_PARAMS = ("sort", "order")
"""Parameters that column headings set and the form passes on in hidden fields."""
OFFERED = ("slice", "kind", "track", "search", "own", "by", "at_least", "at_most", "as_of", "columns")


@dataclass(frozen=True)
class Choice:
    """One option of a form field: its value in the query string, its label, and whether it is selected."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Chip:
    """An active filter in words, and the URL of the board without it."""

    text: str
    url: str


@dataclass(frozen=True)
class BoardForm:
    """State of the filter form.

    values: current values of the fields, by parameter. slices: the options by dimension. preserved: (name, value) of
    hidden fields. today: the latest day that can be chosen. chips: the active filters. facts: facts that are texts or
    yes-no, with the answer to filter by.
    """

    values: dict[str, str]
    slices: Sequence[tuple[str, Sequence[Choice]]]
    kinds: Sequence[Choice]
    tracks: Sequence[Choice]
    by: Sequence[Choice]
    columns: Sequence[Choice]
    facts: Sequence[tuple[Fact, str]]
    preserved: Sequence[tuple[str, str]]
    today: str
    chips: Sequence[Chip] = field(default_factory=list)


def form(request: HttpRequest, page: Page, table: Table) -> BoardForm:
    params = {name: request.GET.get(name, "") for name in OFFERED}
    board = page.board
    slices = [
        (name, [Choice(f"{name}:{value}", value, params["slice"] == f"{name}:{value}") for value in values])
        for name, values in board.dimensions.items()
    ]
    number_facts = (name for name, fact in facts_of(board).items() if fact.is_number)
    numbers = [*(measure.name for measure in board.measures), *board.cost_kinds, *number_facts]
    return BoardForm(
        values=params,
        slices=slices,
        kinds=[Choice(kind.value, str(kind.label), params["kind"] == kind.value) for kind in System.Kind],
        tracks=[Choice(track.name, track.title, params["track"] == track.name) for track in tracks.of(board.phase)],
        by=[Choice(name, _title(board, name), params["by"] == name) for name in numbers],
        columns=[Choice(name, _title(board, name), name in table.shown) for name in table.all],
        facts=[(fact, request.GET.get(name, "")) for name, fact in facts_of(board).items() if not fact.is_number],
        preserved=[(name, request.GET[name]) for name in PRESERVED_PARAMS if request.GET.get(name)],
        today=timezone.now().date().isoformat(),
        chips=_chips(request, page, table),
    )


def _title(board: Board, name: str) -> str:
    titles = {column.name: column.page for column in row_columns.COLUMNS if column.page}
    measure, fact = board.measure(name), facts_of(board).get(name)
    if fact is not None:
        return fact.title
    return measure.title if measure else ABOUT[name][0] if name in ABOUT else titles.get(name, name)


def _chips(request: HttpRequest, page: Page, table: Table) -> list[Chip]:
    """Return a chip for each active filter."""
    query, board = page.query, page.board
    least, most = query.bounds
    by = _title(board, query.by.name) if query.by else ""
    texts = {
        "slice": " and ".join(f"{name} = {value}" for name, value in query.slice_),
        "as_of": f"as of {board.as_of.isoformat()}" if board.as_of else "",
        "kind": f"{str(System.Kind(query.kind).label).lower()} only" if query.kind else "",
        "track": f"track {tracks.title_of(board.phase, query.track)}" if query.track else "",
        "search": "name contains “{}”".format(" ".join(query.words)) if query.words else "",
        **{fact.column: f"{fact.title}: {shown(value)}" for fact, value in query.facts},
        "own": "only mine" if query.own else "",
        "at_least": f"{by} at least {least:g}" if least is not None else "",
        "at_most": f"{by} at most {most:g}" if most is not None else "",
        "columns": f"{len(table.shown)} of {len(table.all)} columns" if len(table.shown) < len(table.all) else "",
    }
    return [Chip(text, _without(request, name)) for name, text in texts.items() if text]


def _without(request: HttpRequest, name: str) -> str:
    params = request.GET.copy()
    for dropped in (name, "page"):
        params.pop(dropped, None)
    for empty in [key for key, values in params.lists() if not any(values)]:
        del params[empty]
    return f"{request.path}?{params.urlencode()}" if params else request.path
