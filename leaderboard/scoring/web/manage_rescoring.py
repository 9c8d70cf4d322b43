"""Management page of a phase's rescoring: progress, changes of ranks, and actions to start, cancel and resume it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard.boards.queries import board_state, frozen_boards
from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.boards.queries.prepared_board import changes, failed_runs, outdated_version, progress_of
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Phase
from leaderboard.scoring.actions import rescoring

ASK_AGAIN = 2000
"""Milliseconds between two polls of the progress by the page."""


@login_required
@require_safe
def rescoring_page(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the progress of a phase's rescoring, and how it changes the ranks."""
    return _page(request, managed_phase_or_404(request.user, slug, phase))


@login_required
@require_safe
def state(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Render the page's fragment with the rescoring's progress; once it is over, the response makes the page reload."""
    context = _followed(managed_phase_or_404(request.user, slug, phase))
    response = render(request, "scoring/manage_rescoring_state.html", context)
    if context["progress"] is None:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def begin(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Queue a run, on the current gold and task version, of each prediction whose run has failed or is missing."""

    def work(row: Phase) -> str:
        return _queued(rescoring.begin(phase=row, by=request.user))

    return _do(request, slug, phase, work)


@login_required
@require_POST
def cancel(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Cancel the board in preparation."""

    def work(row: Phase) -> str:
        board = rescoring.cancel(phase=row, by=request.user)
        shown = board_state.current(row)
        is_correction = shown is None or shown.gold_version_id != board.gold_version_id
        label = f"on gold version {board.gold_version.number}" if is_correction else f"by scorer {board.task_version}"
        return f"The rescoring {label} was cancelled."

    return _do(request, slug, phase, work)


@login_required
@require_POST
def resume(request: PersonRequest, slug: str, phase: str, number: int) -> HttpResponse:
    """Resume the cancelled rescoring on the gold version with this number."""

    def work(row: Phase) -> str:
        gold = get_object_or_404(row.split.gold_versions, number=number)
        return _queued(rescoring.resume(phase=row, gold=gold, by=request.user))

    return _do(request, slug, phase, work)


def _do(request: PersonRequest, slug: str, phase: str, work: Callable[[Phase], str]) -> HttpResponse:
    row = managed_phase_or_404(request.user, slug, phase)
    try:
        messages.success(request, work(row))
    except Refused as refused:
        return _page(request, row, Refusal(refused))
    return redirect("manage_rescoring", slug, phase)


def _queued(count: int) -> str:
    if not count:
        return "There was nothing to queue."
    return f"{count} prediction{'s' if count != 1 else ''} will be scored again."


def _page(request: PersonRequest, phase: Phase, refusal: Refusal | None = None) -> HttpResponse:
    context = {
        **_followed(phase),
        "scoring": scorer_of_phase.of(phase),
        "outdated_version": outdated_version(phase),
        "resumable": rescoring.resumable(phase),
        "past": phase.leaderboards.select_related("gold_version").order_by("-gold_version__number", "-task_version"),
        "refusal": refusal,
    }
    return render(request, "scoring/manage_rescoring.html", context, status=refusal.status if refusal else 200)


def _followed(phase: Phase) -> dict[str, Any]:
    progress, shown = progress_of(phase), board_state.current(phase)
    # If no board is in preparation, the page shows the changes of the last replacement.
    replaced = next(iter(frozen_boards(phase)), None) if progress is None else None
    before, after = (shown, progress.board) if progress else (replaced, shown)
    is_correction = bool(progress and shown and progress.board.gold_version_id != shown.gold_version_id)
    on_the_way = progress is not None and progress.waiting + progress.running > 0
    return {
        "benchmark": phase.benchmark,
        "phase": phase,
        "progress": progress,
        "shown": shown,
        "is_correction": is_correction,
        # The code of an earlier task version is not available; an earlier custom scorer's image is.
        "is_cancellable": bool(progress and shown and (is_correction or phase.scorer_id)),
        "replaced": replaced,
        "changes": changes(before, after) if before and after else [],
        "failed": failed_runs(progress.board) if progress else [],
        "primary": scorer_of_phase.of_board(after).primary(after.gold_version) if after else "",
        "ask_again": ASK_AGAIN if on_the_way else None,
    }
