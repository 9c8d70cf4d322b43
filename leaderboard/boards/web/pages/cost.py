"""Page of quality against cost: the primary measure by run time, memory or image size."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.cost import cost_chart
from leaderboard.boards.web.tables import cost_columns


@require_safe
@conditional_page
def cost_board(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """Render the chart; raise Http404 if no system of the board has a known cost.

    `?cost=`: the kind of cost, such as wall_seconds; default: the first kind that the board has.
    """
    board = board_or_404(request.user, slug, phase, within=(), **version)
    columns = cost_columns.columns(board)
    if not columns:
        raise Http404("no system on this board has a known cost")
    requested = request.GET.get("cost")
    column = next((known for known in columns if known.kind == requested), columns[0])
    measure = board.measure(board.primary)
    is_up = measure is None or measure.higher_is_better is not False
    chart = cost_chart(by_primary(board), measure=board.primary, kind=column.kind, higher_is_better=is_up)
    marks = chart.marks if chart else []
    shown = {mark.row.system_id for mark in marks}
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "columns": columns,
        "column": column,
        "is_up": is_up,
        "chart": chart,
        "measure": measure,
        "rows": [(mark, cost_columns.cost_texts(mark.row, columns)) for mark in marks],
        "absent": [row for row in by_primary(board) if row.system_id not in shown],
        "n_inputs": board.n_inputs,
    }
    return render(request, "boards/cost.html", context)
