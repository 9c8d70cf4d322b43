"""Pairs of a symmetric set: how often a system that has the original right has the generated claim right as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, Row, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.plots import Pairs, drawn_of, tells_drawings
from leaderboard.boards.web import svg_csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.contrast_pairs import KINDS, pairs_chart
from leaderboard.boards.web.plot_links import as_json, is_symmetric
from leaderboard.boards.web.tables.sorting import Key, Sorting, by_name

HEADS = ("system", "team", "pairs", *(kind for kind, _, _ in KINDS))
MOST = 60
"""Bars in the picture."""


@require_safe
@conditional_page
def pairs(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """`?sort=` one of KINDS or `system`; `?download=svg` or `csv`. 404 where the gold declares no origins."""
    board = board_or_404(request.user, slug, phase, within=(), **version)
    if not is_symmetric(board):
        raise Http404("no symmetric set")
    told = _told(board)
    keys = {kind: Key(_share(told, kind), best_first=kind == "both") for kind, _, _ in KINDS}
    keys["system"] = Key(by_name, best_first=False)
    sorting = Sorting.asked(request, keys, "both")
    rows = [(row, told[row.system_id]) for row in sorting.apply(board.rows) if row.system_id in told]
    whole = 3 * (board.n_groups or 0)
    chart = pairs_chart(rows[:MOST], are_whole=all(found.n == whole for _, found in rows))
    context: dict[str, Any] = {"chart": chart, "kinds": KINDS}
    wanted = request.GET.get("download")
    if wanted == "csv":
        return svg_csv_download.as_csv(board, "pairs-right", HEADS, [_line(row, found) for row, found in rows])
    if wanted == "svg" and chart is not None:
        return svg_csv_download.as_svg(
            board,
            "pairs-right",
            "boards/charts/pairs_alone.svg",
            context,
            height=chart.height + 130,
            frame="boards/charts/plot.svg",
            width=960,
        )
    context |= {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "tells": tells_drawings(board),
        "json": as_json(board),
        "columns": [(title, meaning, sorting.headings[kind]) for kind, title, meaning in KINDS],
        "headings": sorting.headings,
        "rows": [
            (row, [(getattr(found, kind), getattr(found, kind) / found.n) for kind, _, _ in KINDS], found.n)
            for row, found in rows
        ],
        "before": [row for row in by_primary(board) if row.system_id not in told],
        "n_more": max(0, len(rows) - MOST),
    }
    return render(request, "boards/contrast_pairs.html", context)


def _told(board: Board) -> dict[int, Pairs]:
    """By system, where there is a pair at all."""
    found = drawn_of(board, board.rows)
    counted = {row.system_id: found[row.run_id].pairs for row in board.rows if row.run_id in found}
    return {system: pairs for system, pairs in counted.items() if pairs is not None and pairs.n}


def _shares(found: Pairs) -> list[tuple[int, float]]:
    """Of each of KINDS its count and share."""
    counts = [getattr(found, kind) for kind, _, _ in KINDS]
    return [(count, count / found.n) for count in counts]


def _share(told: dict[int, Pairs], kind: str) -> Callable[[Row], float | None]:
    def share(row: Row) -> float | None:
        found = told.get(row.system_id)
        return None if found is None else getattr(found, kind) / found.n

    return share


def _line(row: Row, found: Pairs) -> Sequence[object]:
    return (row.system, row.team, found.n, *(getattr(found, kind) for kind, _, _ in KINDS))
