"""Management pages to disqualify a system from a phase and to reinstate it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.names import anonymous
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Phase, System
from leaderboard.systems.actions import systems
from leaderboard.systems.web.forms import DisqualifyForm


@login_required
@require_http_methods(["GET", "POST"])
def disqualify(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Show the form for the public reason; a POST disqualifies the system."""
    row, system = _phase_and_system_or_404(request, slug, phase, pk)
    current = row.disqualifications.filter(system=system).select_related("created_by").first()
    form = DisqualifyForm(request.POST or None, initial={"reason": current.reason if current else ""})
    refusal = None
    if form.is_valid():
        try:
            systems.disqualify(phase=row, system=system, reason=form.cleaned_data["reason"], by=request.user)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            changed = "The reason was changed" if current else "The system is disqualified"
            messages.success(request, f"{changed}. The board shows your reason.")
            return redirect(row)
    context = {
        "benchmark": row.benchmark,
        "phase": row,
        "system": system,
        "shown": anonymous.shown(system, knows=True),
        "disqualification": current,
        "form": form,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    return render(request, "systems/manage_disqualify.html", context, status=status)


@login_required
@require_POST
def reinstate(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Let a disqualified system compete again."""
    row, system = _phase_and_system_or_404(request, slug, phase, pk)
    systems.reinstate(phase=row, system=system, by=request.user)
    messages.success(request, "The system competes again.")
    return redirect(row)


def _phase_and_system_or_404(request: PersonRequest, slug: str, phase: str, pk: int) -> tuple[Phase, System]:
    """Return a phase that the user manages, and a system with submissions to the phase.

    Raises Http404 for any other phase or system.
    """
    row = managed_phase_or_404(request.user, slug, phase)
    submitted = row.submissions.order_by().values("system")
    return row, get_object_or_404(System.objects.select_related("team"), pk=pk, pk__in=submitted)
