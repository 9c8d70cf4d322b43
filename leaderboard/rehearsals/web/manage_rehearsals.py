"""Rehearsing a phase: beginning it, naming who tests, ending it, and those that are over."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Phase, Rehearsal
from leaderboard.rehearsals import actions
from leaderboard.rehearsals.web.forms import RehearsalForm, TestersForm


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def rehearsal(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """The phase's rehearsals; a POST begins one."""
    found = managed_phase_or_404(request.user, slug, phase)
    if request.method != "POST":
        return _page(request, found)
    form = RehearsalForm(request.POST, phase=found)
    if not form.is_valid():
        return _page(request, found, form=form)
    try:
        testers = actions.testers_named(form.cleaned_data["testers"])
        made = actions.begin(phase=found, testers=testers, ends_at=form.cleaned_data["ends_at"], by=request.user)
    except Refused as refused:
        return _page(request, found, Refusal(refused), form)
    messages.success(request, f"The rehearsal has begun: {made.benchmark.title}.")
    return redirect("manage_rehearsal", slug, phase)


@login_required
@require_POST
def testers(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Name who tests."""
    found = managed_phase_or_404(request.user, slug, phase)
    row = get_object_or_404(found.rehearsals, pk=pk)
    form = TestersForm(request.POST)
    if not form.is_valid():
        return _page(request, found, testers_form=form)
    try:
        named = actions.testers_named(form.cleaned_data["testers"])
        actions.name_testers(rehearsal=row, testers=named, by=request.user)
    except Refused as refused:
        return _page(request, found, Refusal(refused), testers_form=form)
    messages.success(request, f"{len(named)} tester{'s' if len(named) != 1 else ''} named.")
    return redirect("manage_rehearsal", slug, phase)


@login_required
@require_POST
def end(request: PersonRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """End it; nothing of it counts."""
    found = managed_phase_or_404(request.user, slug, phase)
    row = get_object_or_404(found.rehearsals, pk=pk)
    try:
        actions.end(rehearsal=row, by=request.user)
    except Refused as refused:
        return _page(request, found, Refusal(refused))
    messages.success(request, f"The rehearsal is over; {found.title} is as empty as before.")
    return redirect("manage_rehearsal", slug, phase)


def _page(
    request: PersonRequest,
    phase: Phase,
    refusal: Refusal | None = None,
    form: RehearsalForm | None = None,
    testers_form: TestersForm | None = None,
) -> HttpResponse:
    rows = phase.rehearsals.select_related("benchmark", "begun_by", "ended_by")
    found = list(rows.annotate(n_submissions=Count("benchmark__phases__submissions")))
    now: Rehearsal | None = next((row for row in found if not row.is_over), None)
    named = "\n".join(now.testers.order_by("username").values_list("username", flat=True)) if now else ""
    context = {
        "benchmark": phase.benchmark,
        "phase": phase,
        "now": now,
        "copy": now.benchmark.phases.get(slug=phase.slug) if now else None,
        "over": [row for row in found if row.is_over],
        "why_not": actions.why_not(phase),
        "form": form or RehearsalForm(phase=phase),
        "testers_form": testers_form or TestersForm(initial={"testers": named}),
        "refusal": refusal,
    }
    bad = form is not None or testers_form is not None
    return render(
        request, "rehearsals/manage_rehearsal.html", context, status=refusal.status if refusal else 422 if bad else 200
    )
