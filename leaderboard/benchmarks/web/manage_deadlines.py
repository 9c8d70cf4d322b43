"""Management page of a phase's deadline, its extensions, and the time zone of its dates."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.benchmarks.actions import deadlines
from leaderboard.benchmarks.web.forms.announcement import ExtensionForm, ZoneForm
from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Phase


@login_required
@require_http_methods(["GET", "POST"])
def deadline(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show a phase's dates and all extensions of its deadline; a POST extends the deadline."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    form, refusal = ExtensionForm(request.POST or None, time_zone=phase_row.time_zone), None
    if form.is_valid():
        try:
            deadlines.extend(phase=phase_row, by=request.user, **form.cleaned_data)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, "The deadline was extended.")
            return redirect("manage_deadline", slug, phase)
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    return _page(request, phase_row, form, refusal=refusal, status=status)


@login_required
@require_POST
def zone(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Set the time zone in which a phase's dates are shown in addition to UTC."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    form = ZoneForm(request.POST)
    if not form.is_valid():
        return _page(request, phase_row, ExtensionForm(time_zone=phase_row.time_zone), status=422, zone_form=form)
    deadlines.set_zone(phase=phase_row, time_zone=form.cleaned_data["time_zone"], by=request.user)
    messages.success(request, "The time zone was saved.")
    return redirect("manage_deadline", slug, phase)


def _page(
    request: PersonRequest,
    phase_row: Phase,
    form: ExtensionForm,
    *,
    refusal: Refusal | None = None,
    status: int = 200,
    zone_form: ZoneForm | None = None,
) -> HttpResponse:
    context = {
        "benchmark": phase_row.benchmark,
        "phase": phase_row,
        "form": form,
        "zone_form": zone_form or ZoneForm(initial={"time_zone": phase_row.time_zone}),
        "refusal": refusal,
        "extensions": phase_row.extensions.select_related("team", "created_by"),
    }
    return render(request, "benchmarks/manage_deadline.html", context, status=status)
