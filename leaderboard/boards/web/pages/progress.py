"""Page of the best score of a phase over time, compared with reported results and human performance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.disclosure.ladder import Bounds
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, ShownScore
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.queries.system_history import records_on
from leaderboard.boards.web import csv_download
from leaderboard.boards.web.board_links import other_boards

HUMAN = re.compile(r"\b(human|annotator)", re.IGNORECASE)
MOST_LEVELS = 8
"""Maximum number of reference levels in the plot; the table has all of them."""


@dataclass(frozen=True)
class ScoreAtTime:
    """The score of a system's submission, and when this was received. number: from 1, in order of time."""

    number: int
    name: str
    at: datetime
    score: ShownScore


@dataclass(frozen=True)
class Level:
    """A reference value without a date, such as a reported result. bounds: of a system's true score on a ladder."""

    name: str
    value: float
    is_human: bool = False
    bounds: Bounds | None = None


@require_safe
@conditional_page
def progress(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render plot and table; `?download=csv` returns the table."""
    board = board_or_404(request.user, slug, phase, within=(), **version)
    best, levels = best_so_far(board), reference_levels(board)
    if request.GET.get("download") == "csv":
        return csv_download.as_csv(board, "progress", HEADS, _table([moment for _, moment in best], levels))
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "best_so_far": best,
        "levels": levels,
        "has_people": any(level.is_human for level in levels),
        "n_hidden": max(0, len(levels) - MOST_LEVELS),
    }
    return render(request, "boards/progress.html", context)


HEADS = ("kind", "number", "name", "received_at", "value", "low", "high")


def best_so_far(board: Board) -> list[tuple[int, ScoreAtTime]]:
    """Return (system id, score) of each score that was the best of all competing systems when it was submitted."""
    if board.leaderboard is None:
        return []
    names = {row.system_id: row.system for row in board.rows if row.competes}
    best_scores = records_on(board.leaderboard, names, higher_is_better=_is_up(board))
    return [
        (score.system_id, ScoreAtTime(number, names[score.system_id], score.at, score.score))
        for number, score in enumerate(best_scores, 1)
    ]


def _is_up(board: Board) -> bool:
    measure = board.measure(board.primary)
    return measure is None or measure.higher_is_better is not False


def reference_levels(board: Board) -> list[Level]:
    """Return reported results and non-competing systems by their overall primary score, best first."""
    levels = [
        Level(row.system if row.same_split else f"{row.system} (another split)", value, bool(HUMAN.search(row.system)))
        for row in reported_of(board.phase.benchmark).rows
        if (value := row.values.get((board.primary, WHOLE), (None, ""))[0]) is not None
    ]
    levels += [
        Level(row.system, score.value, bool(HUMAN.search(row.system)), bounds=score.bounds)
        for row in board.rows
        if not row.competes and not row.disqualified and (score := row.score(board.primary)).value is not None
    ]
    return sorted(levels, key=lambda level: level.value, reverse=_is_up(board))


def plotted_levels(levels: Sequence[Level]) -> list[Level]:
    """Return the first MOST_LEVELS of the levels, with human performance moved to the front; these are plotted."""
    return sorted(levels, key=lambda level: not level.is_human)[:MOST_LEVELS]


def _table(moments: Sequence[ScoreAtTime], levels: Sequence[Level]) -> list[Sequence[object]]:
    best = [
        ("best so far", m.number, m.name, m.at.isoformat(), m.score.value, m.score.low, m.score.high) for m in moments
    ]
    return [*best, *(("reference", None, level.name, None, level.value, None, None) for level in levels)]
