"""Page of a phase's leaderboard: every system with every measure, overall or on a slice, sorted and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, InvalidQuery, Page, frozen_boards, page_of, parse
from leaderboard.boards.queries.lookup import head_or_404
from leaderboard.boards.queries.prepared_board import progress_of
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.board_links import by_track, other_boards
from leaderboard.boards.web.etag import with_etag
from leaderboard.boards.web.page_description import describe
from leaderboard.boards.web.tables import filter_form, rows_html
from leaderboard.boards.web.tables import table as board_columns
from leaderboard.models import Standing, Submission


@require_safe
@with_etag
def leaderboard(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """Render the board by `?slice=`, `?sort=` with `?order=asc|desc`, `?kind=`, `?search=`, `?by=` with
    `?at_least=` and `?at_most=`, `?as_of=`, `?columns=` and `?page=`: see docs/boards.md.

    version: the gold and task version of a frozen board; empty: the current one.
    """
    page, error = _page(request, slug, phase, version)
    board, query = page.board, page.query
    table = board_columns.Table.of(request, page)
    own = _own_standings(request, board)
    scores = [(row, row.score(board.primary, query.slice_)) for row in board.rows]
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "page": page,
        "preview": describe(board),
        "mistake": error,
        "table": table,
        "ranges": board.ranges,
        "form": filter_form.form(request, page, table),
        "row_groups": rows_html.groups(
            table,
            own={standing.system_id for standing in own},
            readable=_readable(request, board) if board.frozen else (),
        ),
        "own": own,
        "has_teams": request.user.is_authenticated,
        "n_columns": 2
        + sum(len(part) for part in (table.before, table.measures, table.costs, table.facts, table.after)),
        "primary": board.measure(board.primary),
        "costs": table.costs,
        "no_costs": table.no_costs,
        "has_plot": any(score.value is not None for _, score in scores),
        "leader_has_interval": any(row.rank == 1 and score.low is not None for row, score in scores),
        "boards": other_boards(board),
        "by_track": by_track(board),
        "frozen_boards": [] if board.frozen else frozen_boards(board.phase),
        "rescoring": progress_of(board.phase),
        "reported": reported_of(board.phase.benchmark),
    }
    return render(request, "boards/leaderboard.html", context)


def _page(request: HttpRequest, slug: str, phase: str, version: dict[str, Any]) -> tuple[Page, InvalidQuery | None]:
    """Return (the requested page, None), or for invalid query parameters (the default page, the error)."""
    params = {name: str(value) for name, value in request.GET.items()}
    error = None
    try:
        board = head_or_404(request.user, slug, phase, as_of=params.get("as_of", ""), **version)
        query = parse(board, params, board_columns.direction(params.get("order", "")))
    except InvalidQuery as exc:
        error = exc
        board = head_or_404(request.user, slug, phase, **version)
        query = parse(board, {}, board_columns.direction(""))
    return page_of(board, query, viewer=request.user), error


def _own_standings(request: HttpRequest, board: Board) -> Sequence[Standing]:
    """Return the standings of the viewer's systems on the board, on all of its pages, the best rank first."""
    if not request.user.is_authenticated or board.leaderboard is None or board.as_of is not None:
        return []
    own = board.leaderboard.standings.filter(system__team__members=request.user)
    return list(own.select_related("system").order_by(F("rank").asc(nulls_last=True), "pk"))


def _readable(request: HttpRequest, board: Board) -> set[UUID]:
    """Return the ids of those submissions on the board whose receipts the user may read."""
    if not request.user.is_authenticated:
        return set()
    submissions = Submission.objects.visible_to(request.user).filter(pk__in=[row.submission_id for row in board.rows])
    return set(submissions.values_list("pk", flat=True))
