"""Page of a submission, the HTML fragment that updates its state, and downloads of predictions and receipt."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import tracks
from leaderboard.boards.queries.request import PAGE_SIZE
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import RankChange, Reason, State, Submission
from leaderboard.submissions.actions.hide import why_not_to_take_off
from leaderboard.submissions.queries import exact_scores, examples, receipts
from leaderboard.submissions.queries.progress import Progress, open_predictions_or_404, progress_or_404, published
from leaderboard.submissions.web.container import container
from leaderboard.submissions.web.score_sheet import sheet
from leaderboard.work_queue import worker_status

# Polling intervals: (seconds since receipt, milliseconds until the page polls again).
PATIENCE = ((10, 400), (60, 1000), (600, 3000))
# Milliseconds until the next poll when the last interval has passed.
SLOWEST = 10_000


@login_required
@require_safe
def submission(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Show the page of a submission to its team and to the benchmark's managers."""
    context = _context(request, pk)
    progress = context["progress"]
    can_be_shown = progress.state not in (State.REJECTED, State.FAILED, State.CANCELLED)
    context["may_take_off"] = (
        can_be_shown and _is_of_its_team(request, progress) and not why_not_to_take_off(context["phase"])
    )
    context["manages"] = context["benchmark"].is_managed_by(request.user)
    return render(request, "submissions/submission.html", context)


@require_safe
def state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the HTML fragment with the submission's state; the page requests it again until the state is final."""
    context = {**_context(request, pk), "asks": True}
    # Screen readers announce a change once, not on every poll.
    context["is_news"] = request.GET.get("was") not in (None, context["progress"].state)
    return render(request, "submissions/submission_state.html", context)


@login_required
@require_safe
def download(request: PersonRequest, pk: UUID) -> FileResponse:
    """Download the predictions file, unchanged. It is an attachment, so that the browser does not render it."""
    prediction, file = open_predictions_or_404(request.user, pk)
    name = "".join(character for character in prediction.name if character.isprintable())
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")


@login_required
@require_safe
def receipt(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Download the receipt; status 404 while there are no scores.

    The default is the receipt of the current scores; `?gold_version=1&task_version=2` selects the receipt of the scores
    on another board.
    """
    progress = progress_or_404(request.user, pk)
    version = tuple(request.GET.get(name) for name in ("gold_version", "task_version"))
    rows = [row for row in published(progress) if _version(row) == version] if any(version) else [progress]
    document = receipts.document(rows[0]) if rows else {}
    if not document:
        raise Http404
    content = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    answer = HttpResponse(content, content_type="application/json")
    answer["Content-Disposition"] = 'attachment; filename="receipt.json"'
    return answer


def _context(request: HttpRequest, pk: UUID) -> dict[str, Any]:
    progress = progress_or_404(request.user, pk)
    row = progress.submission
    # Managers of the benchmark see more of a container than the team.
    is_manager = progress.is_container and progress.for_manager
    is_pending = progress.container_waits_or_runs or progress.is_being_validated
    may_withdraw = is_pending and _is_of_its_team(request, progress)
    return {
        "container": container(progress, is_manager=is_manager),
        "is_manager": is_manager,
        "may_still_run": progress.container_waits_or_runs,
        "may_withdraw": may_withdraw,
        "progress": progress,
        "submission": row,
        "track": tracks.title_of(row.phase, row.track),
        "published": published(progress),
        "benchmark": row.phase.benchmark,
        "phase": row.phase,
        "rank_changes": _rank_changes(row),
        "has_examples": examples.are_shown(progress),
        "exact_scores": exact_scores.of_run(progress.run, row.phase) if progress.for_manager else (),
        "sheet": sheet(progress.release) if progress.release else None,
        **_result(progress),
        "reason": progress.reason.label if progress.reason is not Reason.NONE else "",
        "is_queued": progress.state is State.QUEUED,
        "scorer_away": _scorer_is_away(progress),
        "gpus_away": _why_no_gpus(progress),
        "ask_again": None if progress.is_over else _ask_again(row.received_at),
    }


def _result(progress: Progress) -> dict[str, Any]:
    """Return the template context of the submission's result on the current board; empty if there is no result."""
    result = progress.result
    if result is None:
        return {}
    phase, system = progress.submission.phase, progress.submission.system
    # On a long board the row may be on a later page; a search shows it on the first.
    fits = result.entry.board.standings.count() <= PAGE_SIZE
    search = "" if fits else f"?{urlencode({'search': system.name})}"
    names = [phase.benchmark.slug, phase.slug]
    compares = result.rival is not None and reveals_comparisons(phase)
    pair = urlencode({"a": system.pk, "b": result.rival.system_id}) if compares and result.rival else ""
    return {
        "result": result,
        "board_url": f"{phase.get_absolute_url()}{search}#system-{system.pk}",
        "rival_url": f"{reverse('head_to_head', args=names)}?{pair}" if pair else "",
    }


def _rank_changes(row: Submission) -> QuerySet[RankChange]:
    """Return the changes of rank of a submission's system since the submission was received.

    Each is a change from a board of the phase to the board that replaced it, for example after a correction.
    """
    changes = RankChange.objects.filter(leaderboard__phase=row.phase_id, leaderboard__shown_from__gt=row.received_at)
    return changes.filter(system=row.system_id).select_related("leaderboard__gold_version", "replaced__gold_version")


def _scorer_is_away(progress: Progress) -> bool:
    """Return whether the submission waits for a custom scorer that no worker can run at present."""
    waits = progress.run is not None and progress.run.scorer_id is not None and progress.state is State.QUEUED
    return waits and not worker_status.of(worker_status.SCORERS).ready


def _why_no_gpus(progress: Progress) -> str:
    """Return a sentence that says why no worker has the GPUs for which the submission's container waits.

    Empty if a worker has them, or if no container waits for GPUs.
    """
    phase = progress.submission.phase
    return worker_status.why_no_gpus(phase.gpus, phase.gpu_memory_gb) if phase.gpus and progress.wait else ""


def _version(progress: Progress) -> tuple[str, str] | None:
    run = progress.run
    return (str(run.gold_version.number), str(run.task_version)) if run else None


def _is_of_its_team(request: HttpRequest, progress: Progress) -> bool:
    return progress.submission.system.team.members.filter(pk=request.user.pk).exists()


def _ask_again(since: Any) -> int:
    waited = (timezone.now() - since).total_seconds()
    return next((milliseconds for seconds, milliseconds in PATIENCE if waited < seconds), SLOWEST)
