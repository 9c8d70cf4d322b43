"""Page of quality against cost: the primary measure by run time, memory or image size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, Row, ShownScore, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.tables import cost_columns


@dataclass(frozen=True)
class CostedSystem:
    """A system with its score and cost. on_front: it is on the Pareto front of score and cost (see `front`)."""

    row: Row
    score: ShownScore
    cost: float
    on_front: bool = False


@require_safe
@conditional_page
def cost_board(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the chart; raise Http404 if no system of the board has a known cost.

    `?cost=`: the kind of cost, such as wall_seconds; default: the first kind that the board has.
    """
    board = board_or_404(request.user, slug, phase, within=(), **version)
    columns = cost_columns.columns(board)
    if not columns:
        raise Http404("no system on this board has a known cost")
    column = cost_columns.chosen(columns, request.GET.get("cost"))
    systems = costed_systems(board, column.kind)
    shown = {entry.row.system_id for entry in systems}
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "columns": columns,
        "column": column,
        "measure": board.measure(board.primary),
        "rows": [(entry, cost_columns.cost_texts(entry.row, columns)) for entry in systems],
        "absent": [row for row in by_primary(board) if row.system_id not in shown],
        "n_inputs": board.n_inputs,
    }
    return render(request, "boards/cost.html", context)


def costed_systems(board: Board, kind: str) -> list[CostedSystem]:
    """Return the systems with both the primary measure and a cost of this kind, cheapest first, then best first."""
    measure = board.measure(board.primary)
    sign = -1.0 if measure is not None and measure.higher_is_better is False else 1.0
    costed = [
        CostedSystem(row, score, cost)
        for row in by_primary(board)
        if (cost := row.cost_of(kind)) is not None and (score := row.score(board.primary)).value is not None
    ]
    costed.sort(key=lambda system: (system.cost, -sign * (system.score.value or 0.0)))
    best = front([(system.cost, sign * (system.score.value or 0.0)) for system in costed])
    return [replace(system, on_front=on_front) for system, on_front in zip(costed, best, strict=True)]


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each (cost, quality) point whether it is on the Pareto front. Higher quality is better.

    It is unless another point has at most its cost and at least its quality; equal points do not exclude each other.
    """
    return [
        not any(c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in points) for cost, quality in points
    ]
