"""Management pages that add a phase to a benchmark and edit a phase."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluator.tasks.registry import TASKS
from leaderboard.benchmarks.actions import benchmarks, edit_phase
from leaderboard.benchmarks.web.forms.phase import KINDS, EditPhaseForm, PhaseForm
from leaderboard.boards.queries.lookup import managed_or_404, managed_phase_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal, add_to
from leaderboard.models import Benchmark, Phase, Split


@login_required
@require_http_methods(["GET", "POST"])
def create(request: PersonRequest, slug: str) -> HttpResponse:
    """Ask for the kind of a new phase; with `?kind=`, show its form; a POST creates the phase."""
    benchmark = managed_or_404(request.user, slug)
    kind = _kind(request)
    if kind is None:
        status = 422 if request.method == "POST" else 200
        return render(request, "benchmarks/manage_phase_kind.html", _context(request, benchmark), status=status)
    initial_split = benchmark.dataset.splits.filter(name=request.GET.get("split", "")).first()
    initial = {"subset": request.GET.get("subset", "")} | ({"split": initial_split} if initial_split else {})
    form = PhaseForm(request.POST or None, dataset=benchmark.dataset, kind=kind, initial=initial)
    refusal, status = None, 422 if request.method == "POST" else 200
    if form.is_valid():
        fields = form.cleaned_data
        add = benchmarks.add_phase_on_half if fields.pop("keeps_private", False) else benchmarks.add_phase
        try:
            phase = add(phase=Phase(benchmark=benchmark, **fields), by=request.user)
        except Refused as refused:
            refusal, status = add_to(form, refused), refused.code.status
        else:
            messages.success(request, f"The phase {phase.title} was added.")
            return redirect("manage_benchmark", slug)
    context = _context(request, benchmark) | {"form": form, "refusal": refusal, "kind": KINDS[kind]}
    return render(request, "benchmarks/manage_phase_form.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the form of an existing phase; a POST saves it. `?kind=` changes the kind of a phase without submissions."""
    row = managed_phase_or_404(request.user, slug, phase)
    may_change_kind = "disclosure" not in edit_phase.fixed_fields(row)
    kind = (may_change_kind and _kind(request)) or Phase.Disclosure(row.disclosure)
    form = EditPhaseForm(request.POST or None, phase=row, kind=kind)
    refusal: Refusal | None = None
    status = 422 if request.method == "POST" else 200
    if form.is_valid():
        data = form.cleaned_data
        try:
            changed = edit_phase.edit(
                phase=row, changes=form.changes(), reason=data["reason"], seen=data["seen"], by=request.user
            )
        except Refused as refused:
            refusal, status = add_to(form, refused), refused.code.status
            sent = request.POST.copy()
            sent["seen"] = edit_phase.version_of(row)
            form.data = sent
        else:
            messages.success(request, f"{row.title} was changed." if changed else "No changes were made.")
            return redirect("manage_benchmark", slug)
    others = {name: KINDS[name] for name in KINDS if name != kind} if may_change_kind else {}
    context = _context(request, row.benchmark) | {
        "phase": row,
        "form": form,
        "refusal": refusal,
        "kind": KINDS[kind],
        "kinds": others,
    }
    return render(request, "benchmarks/manage_phase_edit.html", context, status=status)


def _kind(request: PersonRequest) -> Phase.Disclosure | None:
    """Return the kind of phase that the form names, or else the one in `?kind=`; None if neither names one."""
    name = request.POST.get("disclosure") or request.GET.get("kind", "")
    return Phase.Disclosure(name) if name in Phase.Disclosure.values else None


def _context(request: PersonRequest, benchmark: Benchmark) -> dict[str, object]:
    return {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "kinds": KINDS,
        "split_name": request.GET.get("split", ""),
        "has_split": benchmark.dataset.splits.exclude(state=Split.State.RETIRED).exists(),
    }
