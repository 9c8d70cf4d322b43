"""What the workers that run containers last said of themselves, for those who run the server."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.models import Prediction, Run, State, WorkerReport


@needs("workers.see")
@never_cache
@require_safe
def workers(request: PersonRequest) -> HttpResponse:
    """Each worker's report, and what waits for them."""
    context = {
        "reports": [(report, _told(report)) for report in WorkerReport.objects.all()],
        "waiting": Prediction.objects.filter(state=State.QUEUED).count(),
        "running": Prediction.objects.filter(state=State.RUNNING).select_related(
            "submission__system", "submission__phase__benchmark"
        ),
        "scorings": _scorings(),
        "switched_on": settings.SYSTEMS,
        "runtime": settings.ENGINE_RUNTIME,
    }
    return render(request, "containers/manage_workers.html", context)


def _scorings() -> dict[str, int]:
    """How many scorings by organisers' own images wait, and run."""
    ours = Run.objects.filter(scorer__isnull=False)
    return {name: ours.filter(state=state).count() for name, state in (("wait", State.QUEUED), ("run", State.RUNNING))}


def _told(report: WorkerReport) -> list[tuple[str, Any]]:
    """What holds around a container there, by name."""
    return sorted(report.detail.items())
