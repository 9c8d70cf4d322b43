"""Management page of a phase's rehearsals: start a rehearsal, change its testers, end it, list earlier rehearsals."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Phase, Rehearsal
from leaderboard.rehearsals import actions
from leaderboard.rehearsals.web.forms import RehearsalForm, TestersForm


@login_required
@require_http_methods(["GET", "POST"])
def rehearsal(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """List the phase's rehearsals; a POST starts one."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    if request.method != "POST":
        return _page(request, phase_row)
    form = RehearsalForm(request.POST, phase=phase_row)
    if not form.is_valid():
        return _page(request, phase_row, form=form)
    try:
        testers = actions.find_testers(form.cleaned_data["testers"])
        created = actions.begin(phase=phase_row, testers=testers, ends_at=form.cleaned_data["ends_at"], by=request.user)
    except Refused as refused:
        return _page(request, phase_row, Refusal(refused), form)
    messages.success(request, f"The rehearsal has started: {created.benchmark.title}.")
    return redirect("manage_rehearsal", slug, phase)


@login_required
@require_POST
def testers(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Replace the testers of a rehearsal."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    row = get_object_or_404(phase_row.rehearsals, pk=pk)
    form = TestersForm(request.POST)
    if not form.is_valid():
        return _page(request, phase_row, testers_form=form)
    try:
        users = actions.find_testers(form.cleaned_data["testers"])
        actions.set_testers(rehearsal=row, testers=users, by=request.user)
    except Refused as refused:
        return _page(request, phase_row, Refusal(refused), testers_form=form)
    messages.success(request, f"{len(users)} tester{'s' if len(users) != 1 else ''} saved.")
    return redirect("manage_rehearsal", slug, phase)


@login_required
@require_POST
def end(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """End a rehearsal before its deadline."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    row = get_object_or_404(phase_row.rehearsals, pk=pk)
    try:
        actions.end(rehearsal=row, by=request.user)
    except Refused as refused:
        return _page(request, phase_row, Refusal(refused))
    messages.success(request, f"The rehearsal has ended. Its submissions do not count in the phase {phase_row.title}.")
    return redirect("manage_rehearsal", slug, phase)


def _page(
    request: PersonRequest,
    phase: Phase,
    refusal: Refusal | None = None,
    form: RehearsalForm | None = None,
    testers_form: TestersForm | None = None,
) -> HttpResponse:
    rows = phase.rehearsals.select_related("benchmark", "begun_by", "ended_by")
    rehearsals = list(rows.annotate(n_submissions=Count("benchmark__phases__submissions")))
    current: Rehearsal | None = next((row for row in rehearsals if not row.is_over), None)
    tester_names = "\n".join(current.testers.order_by("username").values_list("username", flat=True)) if current else ""
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "now": current,
        "copy": current.benchmark.phases.get(slug=phase.slug) if current else None,
        "over": [row for row in rehearsals if row.is_over],
        "why_not": actions.why_not(phase),
        "form": form or RehearsalForm(phase=phase),
        "testers_form": testers_form or TestersForm(initial={"testers": tester_names}),
        "refusal": refusal,
    }
    is_invalid = form is not None or testers_form is not None
    return render(
        request,
        "rehearsals/manage_rehearsal.html",
        context,
        status=refusal.status if refusal else 422 if is_invalid else 200,
    )
