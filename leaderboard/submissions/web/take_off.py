"""Actions of the buttons with which a team takes a submission off the boards, and puts it back."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Submission
from leaderboard.submissions.actions import hide


@login_required
@require_POST
def take_off(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Take a submission of one of the user's teams off all boards of its phase."""
    submission = _own_or_404(request, pk)
    try:
        hide.take_off(submission=submission, by=request.user)
    except Refused as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, "The submission is off the board. You can put it back at any time.")
    return redirect(submission)


@login_required
@require_POST
def put_back(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Put a submission back that the team has taken off the boards."""
    submission = _own_or_404(request, pk)
    try:
        if hide.put_back(submission=submission, by=request.user):
            messages.success(request, "The submission is back on the board, unless the organisers hide it too.")
        else:
            messages.info(request, "Your team did not hide the submission.")
    except Refused as refused:
        messages.error(request, refused.message)
    return redirect(submission)


def _own_or_404(request: PersonRequest, pk: UUID) -> Submission:
    rows = Submission.objects.of_teams_of(request.user).select_related("system__team", "phase__benchmark")
    return get_object_or_404(rows, pk=pk)
