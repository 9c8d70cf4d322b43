"""Withdrawal of a submission by its team, while its container or the validation of its file is queued or running."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from leaderboard.containers.actions import images
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import Submission


@login_required
@require_POST
def withdraw(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Withdraw a submission of one of the user's teams whose container, or validation, is queued or running."""
    submission = get_object_or_404(Submission.objects.of_teams_of(request.user), pk=pk)
    if images.cancel(submission=submission, by=request.user):
        messages.success(request, "The submission was withdrawn. It counts against the quota.")
    else:
        messages.info(request, "The submission had already finished; there was nothing to withdraw.")
    return redirect(submission)
