"""The best score of a phase over time, held against what papers report and what people reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.queries.system_history import records, told_on
from leaderboard.boards.web import svg_csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.progress import Level, Moment, progress_chart

HUMAN = re.compile(r"\b(human|annotator)", re.IGNORECASE)
MOST_LEVELS = 8
"""Lines in the picture; the table has all."""


@require_safe
@conditional_page
def progress(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """`?download=svg` or `csv`: the picture or the table as a file."""
    board = board_or_404(request.user, slug, phase, within=(), **version)
    told, levels = _told(board), _levels(board)
    moments = [moment for _, moment in told]
    chart = progress_chart(moments, _shown(levels))
    context: dict[str, Any] = {"chart": chart, "measure": board.primary, "what": f"the best of {len(moments)} steps"}
    wanted = request.GET.get("download")
    if wanted == "csv":
        return svg_csv_download.as_csv(board, "progress", HEADS, _table(moments, levels))
    if wanted == "svg" and chart is not None:
        return svg_csv_download.as_svg(
            board, "progress", "boards/parts/progress_plot.html", context, height=chart.height
        )
    context |= {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "told": told,
        "levels": levels,
        "has_people": any(level.is_human for level in levels),
        "n_hidden": max(0, len(levels) - MOST_LEVELS),
    }
    return render(request, "boards/progress.html", context)


HEADS = ("kind", "number", "name", "received_at", "value", "low", "high")


def _told(board: Board) -> list[tuple[int, Moment]]:
    """(system, moment) of each score that was the best when its submission came; of what competes alone."""
    if board.leaderboard is None:
        return []
    names = {row.system_id: row.system for row in board.rows if row.competes}
    best = records(told_on(board.leaderboard, names), higher_is_better=_is_up(board))
    return [
        (one.system_id, Moment(number, names[one.system_id], one.at, one.cell)) for number, one in enumerate(best, 1)
    ]


def _is_up(board: Board) -> bool:
    measure = board.measure(board.primary)
    return measure is None or measure.higher_is_better is not False


def _levels(board: Board) -> list[Level]:
    """Papers' rows and those on the board that do not compete, by the primary measure of the whole; best first."""
    found = [
        Level(row.system if row.same_split else f"{row.system} (another split)", value, bool(HUMAN.search(row.system)))
        for row in reported_of(board.phase.benchmark).rows
        if (value := row.cells.get((board.primary, WHOLE), (None, ""))[0]) is not None
    ]
    found += [
        Level(row.system, value, bool(HUMAN.search(row.system)))
        for row in board.rows
        if not row.competes and not row.disqualified and (value := row.cell(board.primary).value) is not None
    ]
    return sorted(found, key=lambda level: level.value, reverse=_is_up(board))


def _shown(levels: Sequence[Level]) -> list[Level]:
    """People first, then the best."""
    return sorted(levels, key=lambda level: not level.is_human)[:MOST_LEVELS]


def _table(moments: Sequence[Moment], levels: Sequence[Level]) -> list[Sequence[object]]:
    best = [
        ("best so far", one.number, one.name, one.at.isoformat(), one.cell.value, one.cell.low, one.cell.high)
        for one in moments
    ]
    return [*best, *(("held against", None, one.name, None, one.value, None, None) for one in levels)]
