"""Page on which teams choose their finals in a sealed phase, the submissions that are scored at its unsealing date."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard.boards.queries.lookup import phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Phase, Submission
from leaderboard.scoring.actions import sealed_phases
from leaderboard.submissions.queries import progress


@login_required
@require_safe
def finals(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the submissions of the user's teams to a sealed phase, grouped by team."""
    row = phase_or_404(request.user, slug, phase)
    if row.disclosure != Phase.Disclosure.SEALED:
        raise Http404("the phase is not sealed, so it has no finals")
    return _page(request, row)


@login_required
@require_POST
def choose(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Make a submission of one of the user's teams a final."""

    def work(submission: Submission) -> str:
        sealed_phases.choose(submission=submission, by=request.user)
        return f"{submission.system.name} was chosen as a final."

    return _do(request, pk, work)


@login_required
@require_POST
def give_back(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Remove a submission from its team's finals."""

    def work(submission: Submission) -> str:
        sealed_phases.unchoose(submission=submission, by=request.user)
        return f"{submission.system.name} is no longer a final."

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
    submissions = progress.with_related(Submission.objects.of_teams_of(request.user).filter(phase=phase))
    by_default = sealed_phases.default_finals(phase, teams=request.user.teams.all()) if phase.is_sealed else []
    teams: dict[str, list[progress.Progress]] = {}
    for submission in submissions.order_by("system__team__name", "-received_at", "-pk"):
        teams.setdefault(submission.system.team.name, []).append(progress.of(submission))
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "teams": [(name, rows, sum(row.is_final for row in rows)) for name, rows in teams.items()],
        "by_default": {submission.pk for submission in by_default},
        "is_choosing": sealed_phases.is_choosing(phase),
        "refusal": refusal,
    }
    return render(request, "submissions/finals.html", context, status=refusal.status if refusal else 200)
