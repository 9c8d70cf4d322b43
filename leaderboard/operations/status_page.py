"""Pages on the state of the site: a detailed one for operators, and one for everybody with the services that work."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from leaderboard.core.rights import is_operator
from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.operations import run_again, status


@needs(is_operator)
@require_safe
def operations(request: PersonRequest) -> HttpResponse:
    """Show operators the state of services, workers, queues, disk and file store, failed work, and versions."""
    sweep, is_late = status.last_sweep()
    troubles, n_troubles = status.troubles()
    context = {
        "services": status.services(),
        "sweep": sweep,
        "sweep_is_late": is_late,
        "workers": status.workers(),
        "queues": status.queues(),
        "broker_messages": status.messages(),
        "troubles": troubles,
        "n_troubles": n_troubles,
        "n_failed": run_again.count(),
        "disk": status.disk_space(),
        "store_errors": status.store_error_counts(),
        "versions": status.versions(),
    }
    return render(request, "operations/status.html", context)


@needs(is_operator)
@require_POST
def run_failed_again(request: PersonRequest) -> HttpResponse:
    """Queue all work again that failed because of this server."""
    queued = run_again.run_failed_again(by=request.user)
    messages.success(request, f"{queued} failed job{'s' if queued != 1 else ''} queued again.")
    return redirect("manage_operations")


@require_safe
def public_status(request: HttpRequest) -> HttpResponse:
    """Show everybody whether each service works, without details that would help an attacker."""
    services = status.public_services()
    context = {"services": services, "is_up": all(services.values()), "at": timezone.now()}
    response = render(request, "operations/public_status.html", context)
    response["Cache-Control"] = "no-store"
    return response
