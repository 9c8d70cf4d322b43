"""A team's finals in a sealed phase: what it has sent, and which of it shall count."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.boards.queries.lookup import phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Phase, Submission
from leaderboard.scoring.actions import sealed_phases
from leaderboard.submissions.queries import progress


@login_required
@never_cache
@require_safe
def finals(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """What the person's teams have sent to a sealed phase, team by team."""
    found = phase_or_404(request.user, slug, phase)
    if found.disclosure != Phase.Disclosure.SEALED:
        raise Http404("no phase with finals")
    return _page(request, found)


@login_required
@require_POST
def choose(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Make a submission of one's own team a final."""

    def work(submission: Submission) -> str:
        sealed_phases.choose(submission=submission, by=request.user)
        return f"{submission.system.name} is final."

    return _do(request, pk, work)


@login_required
@require_POST
def give_back(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Take one out again."""

    def work(submission: Submission) -> str:
        sealed_phases.give_back(submission=submission, by=request.user)
        return f"{submission.system.name} is no longer final."

    return _do(request, pk, work)


def _do(request: PersonRequest, pk: UUID, work: Callable[[Submission], str]) -> HttpResponse:
    own = Submission.objects.of_teams_of(request.user).select_related(
        "phase__benchmark", "phase__split", "system__team"
    )
    submission = get_object_or_404(own, pk=pk)
    phase = submission.phase
    try:
        messages.success(request, work(submission))
    except Refused as refused:
        return _page(request, phase, Refusal(refused))
    return redirect("finals", phase.benchmark.slug, phase.slug)


def _page(request: PersonRequest, phase: Phase, refusal: Refusal | None = None) -> HttpResponse:
    sent = progress.followed(Submission.objects.of_teams_of(request.user).filter(phase=phase))
    by_default = {one.pk for one in sealed_phases.by_default(phase)} if phase.is_sealed else set()
    teams: dict[str, list[progress.Progress]] = {}
    for one in sent.order_by("system__team__name", "-received_at", "-pk"):
        teams.setdefault(one.system.team.name, []).append(progress.of(one))
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "teams": [(name, rows, sum(row.is_final for row in rows)) for name, rows in teams.items()],
        "by_default": by_default,
        "is_choosing": sealed_phases.is_choosing(phase),
        "refusal": refusal,
    }
    return render(request, "submissions/finals.html", context, status=refusal.status if refusal else 200)
