"""Page of the two-way board: systems' scores on each pair of values of two dimensions, as matrices or one table."""

from __future__ import annotations

import math
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, Pair
from leaderboard.boards.queries.lookup import crossed_board_or_404
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.charts.matrix import ALL_VALUES, Grid, MatrixEntry, grid_of, leaders, matrices
from leaderboard.boards.web.charts.strips import strips_of
from leaderboard.boards.web.etag import with_etag
from leaderboard.boards.web.tables.heat_rows import competitor_phrase, on_scale, reasons
from leaderboard.boards.web.tables.pages import TablePage
from leaderboard.boards.web.tables.pivot import Plan, Planned, page_context, pivot, requested, sorted_by
from leaderboard.boards.web.tables.reported_grid import reported_grid

MATRICES, TABLE = "matrices", "table"
DATA = {"csv": "api_leaderboard_csv", "json": "api_leaderboard"}
WIDE = 8
"""A matrix with more columns than this takes the full width of the page."""
SHORT = 5
"""Maximum characters of a value that fits the narrow row headings of a matrix."""
HEADING_CHARACTERS, HEADING_CHARACTERS_WIDE_ROWS = 40, 30
"""Characters that fit all column headings of a matrix together, with narrow and with wide row headings."""


@require_safe
@with_etag
def two_way_board(request: HttpRequest, slug: str, phase: str, pair: str, **version: int) -> HttpResponse:
    """Render the two-way board.

    `?measure=`: a measure that exists on the slices. `?view=`: `matrices` or `table`. `?scale=board`: colours
    over the range of the shown scores. `?sort=`: `system`, or a pair of
    values as JSON (null: all values). `?page=`: page of 150 systems.
    Raises Http404 unless the phase crosses the two dimensions that the URL names.
    """
    board = crossed_board_or_404(request.user, slug, phase, pair, **version)
    crossed = board.crossed
    if crossed is None:
        raise Http404(f"the gold of this phase does not have the dimensions {pair}")
    offered = board.measures_on(crossed)
    measure = requested(request, offered)
    context: dict[str, Any] = page_context(board) | {
        "outer": crossed[0],
        "inner": crossed[1],
        "pair": crossed,
        "measure": measure,
        "measures": offered,
        "open": ALL_VALUES,
        "among": competitor_phrase(board.rows),
    }
    if measure is not None:
        reported = reported_of(board.phase.benchmark)
        context |= _content(request, board, crossed, measure) | {"reported": reported_grid(reported, crossed, measure)}
    return render(request, "boards/two_way.html", context)


def _content(request: HttpRequest, board: Board, pair: Pair, measure: Measure) -> dict[str, object]:
    grid = grid_of(board, pair, measure)
    measure = on_scale(request, measure, board.rows, [entry.source.slice for entry in grid.entries])
    grid = grid_of(board, pair, measure)
    sorting = sorted_by(request, map(_planned, grid.entries), grid.whole.key)
    rows = sorting.apply(board.rows)
    selected = grid.entry(sorting.key)
    strips = strips_of([selected.source.score(row) for row in rows])
    cut = TablePage.from_request(request, len(rows))
    context = {
        "cut": cut,
        "grid": grid,
        "view": view_of(request, board, pair),
        "headings": sorting.headings,
        "legends": legends([measure]),
        "selected": selected,
        "strips": strips,
        "details": cut.of(
            [(row, selected.source.score(row), strip) for row, strip in zip(rows, strips.strips, strict=True)]
        ),
        # The Ladder reveals no intervals, and some custom scorers return none.
        "has_intervals": any(selected.source.score(row).low is not None for row in rows),
        "is_pooled_by_scores": measure.transform is not None,
        "is_descending": sorting.descending,
        **_as_data(board, pair, measure),
    }
    if context["view"] == TABLE:
        return context | {"table": pivot(rows, _plan(grid), sorting.headings, cut)}
    all_matrices = matrices(grid, rows)
    page_matrices = cut.of(all_matrices)
    return context | {
        "matrices": page_matrices,
        "is_wide": len(grid.headings) > WIDE,
        **_headings(grid),
        "leaders": leaders(grid, all_matrices),
        "reasons": reasons(cells for matrix in page_matrices for _, cells in matrix.lines),
    }


def _headings(grid: Grid) -> dict[str, bool]:
    """Return the layout flags has_words (wide row headings) and is_tall (vertical column headings)."""
    has_words = max(len(line[0].outer or "") for line in grid.lines) > SHORT
    room = (HEADING_CHARACTERS_WIDE_ROWS if has_words else HEADING_CHARACTERS) // len(grid.headings)
    return {"has_words": has_words, "is_tall": max(len(value or "") for value in grid.headings) > room}


def _as_data(board: Board, pair: Pair, measure: Measure) -> dict[str, str]:
    """Return the URLs of the page's scores as CSV and JSON, by format."""
    url_args = [board.phase.benchmark.slug, board.phase.slug]
    params = {"measure": measure.name, "slices": ",".join(pair)}
    if board.frozen:
        params |= zip(("gold_version", "task_version"), map(str, board.frozen), strict=True)
    query = urlencode(params)
    return {name: f"{reverse(view, args=url_args)}?{query}" for name, view in DATA.items()}


def view_of(request: HttpRequest, board: Board, pair: Pair) -> str:
    """Return the requested view. Default: matrices if all values of both dimensions are numeric, else the table."""
    requested = request.GET.get("view")
    if requested in (MATRICES, TABLE):
        return requested
    return MATRICES if all(_is_number(value) for name in pair for value in board.dimensions[name]) else TABLE


def _is_number(shown: str) -> bool:
    """Return whether a value is a finite number; gold may store numbers as text."""
    try:
        return math.isfinite(float(shown))
    except ValueError:
        return False


def _planned(entry: MatrixEntry) -> Planned:
    return Planned(entry.key, _heading(entry.inner), entry.source, entry.n)


def _plan(grid: Grid) -> Plan:
    """Return (title, columns) of a group for each value of the outer dimension; the first group is for all values."""
    lines = [grid.lines[-1], *grid.lines[:-1]]
    return [(_heading(line[0].outer), [_planned(entry) for entry in line]) for line in lines]


def _heading(value: str | None) -> str:
    return ALL_VALUES if value is None else value
