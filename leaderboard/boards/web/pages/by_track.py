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
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, Row, by_primary, tracks
from leaderboard.boards.queries.lookup import board_or_404, dimension_or_404, head_or_404
from leaderboard.boards.queries.reported_results import Reported, reported_of
from leaderboard.boards.queries.tracks import Track
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.pages.by_slice import board_by_slice
from leaderboard.boards.web.tables.heat_rows import HeatCell, Source, heat_rows, on_scale, reasons

FEW = 8
"""Maximum number of values of a dimension whose slices are shown by default."""


@dataclass(frozen=True)
class Column:
    """One column of a track's table.

    title: empty for the overall score. n: number of gold units behind the scores; None if there are none.
    """

    title: str
    n: int | None
    source: Source


@dataclass(frozen=True)
class OneTrack:
    """Table of one track. rows: best first, with one cell per column. reported: papers' results for this track."""

    track: Track
    rows: Sequence[tuple[Row, Sequence[HeatCell]]]
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
    measure = next(
        (known for known in offered if known.name == request.GET.get("measure")), offered[0] if offered else None
    )
    if measure is not None:
        slices = [value.slice for value in board.values(dimension, measure.name)] if dimension else []
        measure = on_scale(request, measure, board.rows, [WHOLE, *slices])
    columns = _columns(board, measure, dimension) if measure else []
    track_tables = [_track_table(board, track, columns) for track in tracks.of(board.phase)]
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "dimension": dimension,
        "dimensions": list(board.dimensions),
        "measure": measure,
        "measures": offered,
        "columns": columns,
        "tracks": track_tables,
        "reasons": reasons(cells for table in track_tables for _, cells in table.rows),
        "legends": legends([measure]) if measure else [],
        "boards": other_boards(board),
    }
    return render(request, "boards/by_track.html", context)


def _dimension(request: HttpRequest, board: Board) -> str:
    if requested := request.GET.get("dimension"):
        return dimension_or_404(board, requested)
    return next((name for name, values in board.dimensions.items() if 1 < len(values) <= FEW), "")


def _columns(board: Board, measure: Measure, dimension: str) -> list[Column]:
    whole = Column("", board.n(measure.name), Source(measure, WHOLE))
    values = board.values(dimension, measure.name) if dimension else []
    return [whole, *(Column(value.value, value.n, Source(measure, value.slice)) for value in values)]


def _track_table(board: Board, track: Track, columns: Sequence[Column]) -> OneTrack:
    # The heading already names the track.
    rows = [structs.replace(row, track_title="") for row in by_primary(board) if row.track == track.name]
    cells = heat_rows(rows, [column.source for column in columns])
    return OneTrack(track, list(zip(rows, cells, strict=True)), reported_of(board.phase.benchmark).in_track(track.name))
