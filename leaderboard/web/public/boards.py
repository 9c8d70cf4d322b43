"""A phase's leaderboard: every system with every measure of the whole, sortable by each."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import conditional_page, require_safe

from evaluator.measures import Measure
from evaluator.task import TASKS
from leaderboard.models import Submission
from leaderboard.preparing import progress_of
from leaderboard.reported import reported_of
from leaderboard.standings import Board, Ranges, Row, by_primary, frozen_boards
from leaderboard.web import cost_columns
from leaderboard.web.charts.intervals import interval_plot
from leaderboard.web.drawing_links import drawings, is_symmetric
from leaderboard.web.public.access import board_or_404
from leaderboard.web.sorting import Key, Sorting, by_date, by_name


@dataclass(frozen=True)
class BoardLink:
    """Another view of the same board."""

    title: str
    url: str
    n_values: int | None = None


@require_safe
@conditional_page
def leaderboard(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """`?sort=` a measure, a cost, `system` or `date`; `?order=asc|desc`.

    `version` holds a gold and a task version: that board, frozen.
    """
    board = board_or_404(request, slug, phase, within=(), **version)
    keys = {measure.name: measure_key(measure) for measure in board.measures}
    spent = cost_columns.columns(board)
    keys |= cost_columns.keys(spent)
    keys |= {"system": Key(by_name, best_first=False), "date": Key(by_date)}
    sorting = Sorting.asked(request, keys, board.primary or "system")
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "columns": [(measure, sorting.headings[measure.name], board.n(measure.name)) for measure in board.measures],
        "headings": sorting.headings,
        "rows": [
            (row, [(m, row.cell(m.name)) for m in board.measures], cost_columns.cells(row, spent))
            for row in sorting.apply(board.rows)
        ],
        "costs": cost_columns.headed(spent, sorting),
        "no_costs": cost_columns.reasons(board.rows, spent),
        "plot": interval_plot(by_primary(board), board.primary),
        "boards": other_boards(board),
        "own": _own(request, board) if board.frozen else (),
        "frozen_boards": [] if board.frozen else frozen_boards(board.phase),
        "rescoring": progress_of(board.phase),
        "reported": reported_of(board.phase.benchmark),
    }
    return render(request, "public/leaderboard.html", context)


def _own(request: HttpRequest, board: Board) -> set[UUID]:
    """The submissions on the board whose receipts this person may read."""
    if not request.user.is_authenticated:
        return set()
    on_it = Submission.objects.visible_to(request.user).filter(pk__in=[row.submission_id for row in board.rows])
    return set(on_it.values_list("pk", flat=True))


def measure_key(measure: Measure) -> Key:
    """Sorting by a measure of the whole, best first."""

    def value(row: Row) -> float | None:
        return row.cell(measure.name).value

    return Key(value, best_first=measure.higher_is_better is not False)


def other_boards(board: Board) -> list[BoardLink]:
    """The symmetric board where the gold has pairs, that of two dimensions, one for each dimension, that of costs."""
    prefix = "frozen_" if board.frozen else ""
    where = [board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ())]
    links = []
    if is_symmetric(board):
        links.append(BoardLink("Symmetric board", reverse(f"{prefix}symmetric_board", args=where)))
    links += [BoardLink(title, reverse(f"{prefix}{name}", args=where)) for title, name in drawings(board)]
    if board.crossed:
        url = reverse(f"{prefix}crossed_board", args=[*where, "/".join(board.crossed)])
        links.append(BoardLink("By " + " and ".join(board.crossed), url))
    for name, values in board.dimensions.items():
        url = reverse(f"{prefix}board_by_slice", args=[*where, name])
        links.append(BoardLink(f"By {name}", url, len(values)))
    if board.cost_kinds:
        links.append(BoardLink("Quality and cost", reverse(f"{prefix}cost_board", args=where)))
    if any(row.competes for row in board.rows):
        links.append(BoardLink("Progress", reverse(f"{prefix}progress", args=where)))
    if board.ranges is Ranges.READY:
        links.append(BoardLink("Told apart", reverse(f"{prefix}apart", args=where)))
    if len(board.rows) > 1:
        links.append(BoardLink("Side by side", reverse(f"{prefix}side_by_side", args=where)))
    return links
