"""Filter form of a board: slices, kinds, bounds, columns and date, prefilled from the query string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils import timezone

from leaderboard.boards.queries import Page, tracks
from leaderboard.boards.queries import columns as row_columns
from leaderboard.boards.web.tables.cost_columns import ABOUT
from leaderboard.boards.web.tables.table import Table
from leaderboard.models import System

PRESERVED_PARAMS = ("sort", "order")
"""Parameters that column headings set and the form passes on in hidden fields."""
OFFERED = ("slice", "kind", "track", "search", "by", "at_least", "at_most", "as_of", "columns")


@dataclass(frozen=True)
class Choice:
    """One option: its value in the query string, its label, and whether it is selected."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class BoardForm:
    """State of the filter form.

    values: current values of the fields, by parameter. slices: the options by dimension. preserved: (name, value) of
    hidden fields. today: the latest day that can be chosen. in_force: descriptions of the active filters.
    """

    values: dict[str, str]
    slices: Sequence[tuple[str, Sequence[Choice]]]
    kinds: Sequence[Choice]
    tracks: Sequence[Choice]
    by: Sequence[Choice]
    columns: Sequence[Choice]
    preserved: Sequence[tuple[str, str]]
    today: str
    in_force: Sequence[str] = field(default_factory=list)


def form(request: HttpRequest, page: Page, table: Table) -> BoardForm:
    params = {name: request.GET.get(name, "") for name in OFFERED}
    board = page.board
    slices = [
        (name, [Choice(f"{name}:{value}", value, params["slice"] == f"{name}:{value}") for value in values])
        for name, values in board.dimensions.items()
    ]
    numbers = [*(measure.name for measure in board.measures), *board.cost_kinds]
    return BoardForm(
        values=params,
        slices=slices,
        kinds=[Choice(kind.value, str(kind.label), params["kind"] == kind.value) for kind in System.Kind],
        tracks=[Choice(track.name, track.title, params["track"] == track.name) for track in tracks.of(board.phase)],
        by=[Choice(name, _title(name), params["by"] == name) for name in numbers],
        columns=[Choice(name, _title(name), name in table.shown) for name in table.all],
        preserved=[(name, request.GET[name]) for name in PRESERVED_PARAMS if request.GET.get(name)],
        today=timezone.now().date().isoformat(),
        in_force=_in_force(page, table),
    )


def _title(name: str) -> str:
    titles = {column.name: column.page for column in row_columns.COLUMNS if column.page}
    return ABOUT[name][0] if name in ABOUT else titles.get(name, name)


def _in_force(page: Page, table: Table) -> list[str]:
    """Return a short description of each active filter."""
    query, filters = page.query, []
    if query.slice_:
        filters.append("on " + " and ".join(f"{name} = {value}" for name, value in query.slice_))
    if page.board.as_of:
        filters.append(f"as of {page.board.as_of.isoformat()}")
    if query.kind:
        filters.append(f"{str(System.Kind(query.kind).label).lower()} only")
    if query.track:
        filters.append(f"track {tracks.title_of(page.board.phase, query.track)}")
    if query.words:
        filters.append("name contains “{}”".format(" ".join(query.words)))
    least, most = query.bounds
    if query.by and least is not None:
        filters.append(f"{query.by.name} at least {least:g}")
    if query.by and most is not None:
        filters.append(f"{query.by.name} at most {most:g}")
    if len(table.shown) < len(table.all):
        filters.append(f"{len(table.shown)} of {len(table.all)} columns")
    return filters
