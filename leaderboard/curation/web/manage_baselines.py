"""Management page of a phase's baselines: a button submits those of the task, which the server computes."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.curation.actions import baselines as actions
from leaderboard.models import Phase


@login_required
@require_http_methods(["GET", "POST"])
def baselines(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """List the task's baselines with their submissions to the phase; a POST submits those that have none.

    The POST has the name of one of the phase's tracks in `track`, if it has tracks.
    """
    row = managed_phase_or_404(request.user, slug, phase)
    if request.method != "POST":
        return _page(request, row)
    try:
        made = actions.put(phase=row, by=request.user, track=request.POST.get("track", ""))
    except Refused as refused:
        return _page(request, row, Refusal(refused))
    messages.success(request, f"{len(made)} baseline{'s' if len(made) != 1 else ''} submitted.")
    return redirect("manage_baselines", slug, phase)


def _page(request: PersonRequest, phase: Phase, refusal: Refusal | None = None) -> HttpResponse:
    submitted = actions.submitted(phase)
    declared = TASKS[phase.benchmark.task].baselines
    names = {baseline.name for baseline in declared}
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "baselines": [(baseline, submitted.get(baseline.name)) for baseline in declared],
        "others": [row for name, row in submitted.items() if name not in names],
        "n_missing": sum(name not in submitted for name in names),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 200
    return render(request, "curation/manage_baselines.html", context, status=status)
