"""Page with a table for each track of a phase: its systems, best first, with overall scores and scores by slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe
from msgspec import structs

from evaluator.measures.base import Measure
from leaderboard.boards.queries import WHOLE, Board, by_primary, tracks
from leaderboard.boards.queries.lookup import board_or_404, dimension_or_404, head_or_404
from leaderboard.boards.queries.reported_results import Reported, reported_of
from leaderboard.boards.queries.tracks import Track
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.pages.by_slice import board_by_slice
from leaderboard.boards.web.tables.heat_rows import Source, on_scale
from leaderboard.boards.web.tables.pivot import Pivot, Planned, page_context, pivot, requested

FEW = 8
"""Maximum number of values of a dimension whose slices are shown by default."""


@dataclass(frozen=True)
class OneTrack:
    """Table of one track, best first. reported: papers' results for this track."""

    track: Track
    table: Pivot
    reported: Reported


@require_safe
@conditional_page
def board_by_track(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the table of each track.

    `?dimension=`: dimension whose slices are shown; default: the first one with 2 to FEW values, if any.
    `?measure=`: a measure that exists on these slices; default: the first such measure.
    `?scale=board`: colours over the range of the shown scores.
    """
    head = head_or_404(request.user, slug, phase, **version)
    if not head.phase.tracks:
        # A dimension of the gold may be named "track".
        return board_by_slice(request, slug=slug, phase=phase, dimension="track", **version)
    dimension = _dimension(request, head)
    board = board_or_404(request.user, slug, phase, within=[dimension] if dimension else (), **version)
    offered = board.measures_on([dimension] if dimension else [])
    measure = requested(request, offered)
    if measure is not None:
        slices = [value.slice for value in board.values(dimension, measure.name)] if dimension else []
        measure = on_scale(request, measure, board.rows, [WHOLE, *slices])
    planned = _planned(board, measure, dimension) if measure else []
    track_tables = [_of_track(board, track, planned) for track in tracks.of(board.phase)]
    context = page_context(board) | {
        "dimension": dimension,
        "dimensions": list(board.dimensions),
        "measure": measure,
        "measures": offered,
        "tracks": track_tables,
        "reasons": list(dict.fromkeys(reason for one in track_tables for reason in one.table.reasons)),
        "legends": legends([measure]) if measure else [],
    }
    return render(request, "boards/by_track.html", context)


def _dimension(request: HttpRequest, board: Board) -> str:
    if requested := request.GET.get("dimension"):
        return dimension_or_404(board, requested)
    return next((name for name, values in board.dimensions.items() if 1 < len(values) <= FEW), "")


def _planned(board: Board, measure: Measure, dimension: str) -> list[Planned]:
    whole = Planned("", measure.title, Source(measure, WHOLE), board.n(measure.name))
    values = board.values(dimension, measure.name) if dimension else []
    return [whole, *(Planned(value.value, value.value, Source(measure, value.slice), value.n) for value in values)]


def _of_track(board: Board, track: Track, planned: Sequence[Planned]) -> OneTrack:
    # The heading already names the track.
    rows = [structs.replace(row, track_title="") for row in by_primary(board) if row.track == track.name]
    return OneTrack(track, pivot(rows, [("", planned)]), reported_of(board.phase.benchmark).in_track(track.name))
