"""Page for operators: what of the site is alive, what waits, and what failed within a day."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.operations import status


@needs("operations.view")
@require_safe
def operations(request: PersonRequest) -> HttpResponse:
    """Show the state of services, workers, queues, disk and versions."""
    sweep, is_late = status.last_sweep()
    troubles, n_troubles = status.troubles()
    context = {
        "services": status.services(),
        "sweep": sweep,
        "sweep_is_late": is_late,
        "workers": status.workers(),
        "queues": status.queues(),
        "messages": status.messages(),
        "troubles": troubles,
        "n_troubles": n_troubles,
        "disk": status.disk_space(),
        "store_errors": status.store_error_counts(),
        "versions": status.versions(),
    }
    return render(request, "operations/status.html", context)
