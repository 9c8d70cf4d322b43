"""For a phase's organisers: taking a system out of the ranking, and letting it in again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
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
@never_cache
@require_http_methods(["GET", "POST"])
def disqualify(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """The reason, which everybody reads."""
    found, system = _asked_for(request, slug, phase, pk)
    there = found.disqualifications.filter(system=system).select_related("made_by").first()
    form = DisqualifyForm(request.POST or None, initial={"reason": there.reason if there else ""})
    refusal = None
    if form.is_valid():
        try:
            systems.disqualify(phase=found, system=system, reason=form.cleaned_data["reason"], by=request.user)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "It is disqualified. The board says so, with the reason.")
            return redirect(found)
    context = {
        "benchmark": found.benchmark,
        "phase": found,
        "system": system,
        "shown": anonymous.shown(system, knows=True),
        "there": there,
        "form": form,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    return render(request, "systems/manage_disqualify.html", context, status=status)


@login_required
@require_POST
def reinstate(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Let it compete again."""
    found, system = _asked_for(request, slug, phase, pk)
    systems.reinstate(phase=found, system=system, by=request.user)
    messages.success(request, "It competes again.")
    return redirect(found)


def _asked_for(request: PersonRequest, slug: str, phase: str, pk: int) -> tuple[Phase, System]:
    """A phase that this person manages, and a system that has sent something to it."""
    found = managed_phase_or_404(request.user, slug, phase)
    sent = found.submissions.order_by().values("system")
    return found, get_object_or_404(System.objects.select_related("team"), pk=pk, pk__in=sent)
