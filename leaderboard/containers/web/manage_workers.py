"""Status page of container workers, for operators."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.models import Prediction, Run, State, Submission, WorkerReport
from leaderboard.work_queue import worker_status


@needs("workers.view")
@require_safe
def workers(request: PersonRequest) -> HttpResponse:
    """Show each container worker's status report, and the queued and running containers."""
    reports = WorkerReport.objects.exclude(queue__in=worker_status.SELF_REPORTING)
    containers = Prediction.objects.filter(submission__kind=Submission.Kind.IMAGE)
    context = {
        "reports": [(report, _details(report)) for report in reports],
        "waiting": containers.filter(state=State.QUEUED).count(),
        "running": containers.filter(state=State.RUNNING).select_related(
            "submission__system", "submission__phase__benchmark"
        ),
        "scorings": _scorings(),
        "switched_on": settings.SYSTEMS,
        "runtime": settings.ENGINE_RUNTIME,
    }
    return render(request, "containers/manage_workers.html", context)


def _scorings() -> dict[str, int]:
    """Return the numbers of queued ("wait") and running ("run") runs by custom scorers."""
    runs = Run.objects.filter(scorer__isnull=False)
    return {name: runs.filter(state=state).count() for name, state in (("wait", State.QUEUED), ("run", State.RUNNING))}


def _details(report: WorkerReport) -> list[tuple[str, Any]]:
    """Return the report's details (isolation layers and processors), sorted by name."""
    return sorted(report.detail.items())
