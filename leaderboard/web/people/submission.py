"""A submission's page, the part of it that follows the state, and the file as it was sent."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard import receipts
from leaderboard.models import Reason, State
from leaderboard.progress import Progress
from leaderboard.web.people.access import PersonRequest, progress_or_404
from leaderboard.web.people.sheet import sheet

# Seconds that a submission has waited -> milliseconds until its page asks again.
PATIENCE = ((10, 400), (60, 1000), (600, 3000))
SLOWEST = 10_000


@login_required
@never_cache
@require_safe
def submission(request: PersonRequest, pk: UUID) -> HttpResponse:
    """The whole page."""
    return render(request, "people/submission.html", _context(progress_or_404(request.user, pk)))


@never_cache
@require_safe
def state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The part that follows the state: it asks for itself again until the submission is over."""
    context = _context(progress_or_404(request.user, pk))  # type: ignore[arg-type]
    # Those who listen hear of a change once, not every time that the page asks.
    context["is_news"] = request.GET.get("was") not in (None, context["progress"].state)
    return render(request, "people/submission_state.html", context)


@login_required
@require_safe
def download(request: PersonRequest, pk: UUID) -> FileResponse:
    """One's own file, byte for byte, never shown by the browser."""
    found = progress_or_404(request.user, pk)
    prediction = found.prediction
    if prediction is None or not prediction.file or not found.file_is_shown:
        raise Http404
    name = "".join(character for character in prediction.name if character.isprintable())
    return FileResponse(
        prediction.file.open("rb"), as_attachment=True, filename=name, content_type="application/octet-stream"
    )


@login_required
@never_cache
@require_safe
def receipt(request: PersonRequest, pk: UUID) -> HttpResponse:
    """The receipt as a file, once there are numbers."""
    document = receipts.document(progress_or_404(request.user, pk))
    if not document:
        raise Http404
    content = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    answer = HttpResponse(content, content_type="application/json")
    answer["Content-Disposition"] = 'attachment; filename="receipt.json"'
    return answer


def _context(progress: Progress) -> dict[str, Any]:
    found = progress.submission
    return {
        "progress": progress,
        "submission": found,
        "benchmark": found.phase.benchmark,
        "phase": found.phase,
        "sheet": sheet(progress.release) if progress.release else None,
        "reason": progress.reason.label if progress.reason is not Reason.NONE else "",
        "is_queued": progress.state is State.QUEUED,
        "ask_again": None if progress.is_over else _ask_again(found.received_at),
    }


def _ask_again(since: Any) -> int:
    waited = (timezone.now() - since).total_seconds()
    return next((milliseconds for seconds, milliseconds in PATIENCE if waited < seconds), SLOWEST)
