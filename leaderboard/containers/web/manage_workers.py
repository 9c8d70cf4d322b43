"""Status page of container workers, for curators, who can also drain a host there (let it start no more containers)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard.containers.actions import placement, workers
from leaderboard.core.rights import manages_workers
from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.models import Prediction, Run, State, Submission, WorkerReport
from leaderboard.work_queue import process_reports, worker_status


@dataclass(frozen=True)
class _Worker:
    """A worker's report as the page shows it. running: number of containers that run on the worker's host.

    state: (the worker's state in words, CSS class).
    """

    report: WorkerReport
    running: int

    @property
    def state(self) -> tuple[str, str]:
        if not self.report.is_fresh:
            return "gone", ""
        if self.report.ending:
            return "ending", ""
        if self.report.draining:
            return ("draining" if self.running else "drained"), ""
        return ("ready", "state-done") if self.report.ready else ("not ready", "state-failed")

    @property
    def can_drain(self) -> bool:
        return self.report.queue != workers.SCORERS

    @property
    def cached_bytes(self) -> int:
        return sum(self.report.images.values())

    @property
    def details(self) -> list[tuple[str, Any]]:
        """Return (name, value) of each isolation layer of the engine, and of its processors, sorted by name."""
        return sorted(item for item in self.report.detail.items() if item[0] != process_reports.MIGRATIONS)


@needs(manages_workers)
@require_safe
def show(request: PersonRequest) -> HttpResponse:
    """Show each container worker's status report, and the queued and running containers."""
    reports = WorkerReport.objects.exclude(queue__in=worker_status.SELF_REPORTING)
    containers = Prediction.objects.filter(submission__kind=Submission.Kind.IMAGE)
    context = {
        "workers": [
            _Worker(report, 0 if report.queue == workers.SCORERS else placement.running_on(report.host).count())
            for report in reports
        ],
        "waiting": containers.filter(state=State.QUEUED).count(),
        "running": containers.filter(state=State.RUNNING).select_related(
            "submission__system", "submission__phase__benchmark", "placement__worker"
        ),
        "scorings": _scorings(),
        "switched_on": settings.SYSTEMS,
        "runtime": settings.ENGINE_RUNTIME,
    }
    return render(request, "containers/manage_workers.html", context)


@needs(manages_workers)
@require_POST
def drain(request: PersonRequest, pk: int) -> HttpResponse:
    """Let a worker's host start no more containers; if the form has a field `resume`, let it start them again.

    pk: of the worker's report.
    """
    report = get_object_or_404(WorkerReport.objects.exclude(queue=workers.SCORERS), pk=pk)
    if "resume" in request.POST:
        workers.resume(report, by=request.user)
        messages.success(request, f"{report.host} starts containers again.")
    else:
        workers.drain(report, by=request.user)
        messages.success(request, f"{report.host} starts no more containers, and finishes those that run.")
    return redirect("manage_workers")


def _scorings() -> dict[str, int]:
    """Return the number of runs by custom scorers that are queued (key "wait") and that are running (key "run")."""
    runs = Run.objects.filter(scorer__isnull=False)
    return {name: runs.filter(state=state).count() for name, state in (("wait", State.QUEUED), ("run", State.RUNNING))}
