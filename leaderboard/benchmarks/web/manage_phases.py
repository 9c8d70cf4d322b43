"""Management page that adds a phase to a benchmark."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluator.tasks.registry import TASKS
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.benchmarks.web.forms.benchmark import PhaseForm
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Split


@login_required
@require_http_methods(["GET", "POST"])
def create(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form of a new phase on one of the benchmark's splits; a POST creates the phase."""
    benchmark = managed_or_404(request.user, slug)
    initial_split = benchmark.dataset.splits.filter(name=request.GET.get("split", "")).first()
    form = PhaseForm(
        request.POST or None, dataset=benchmark.dataset, initial={"split": initial_split} if initial_split else {}
    )
    refusal = None
    if form.is_valid():
        try:
            phase = benchmarks.add_phase(benchmark=benchmark, by=request.user, **form.cleaned_data)
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, f"The phase {phase.title} was added.")
            return redirect("manage_benchmark", slug)
    status = refusal.status if refusal else 422 if form.errors else 200
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "form": form,
        "refusal": refusal,
        "has_split": benchmark.dataset.splits.exclude(state=Split.State.RETIRED).exists(),
    }
    return render(request, "benchmarks/manage_phase_form.html", context, status=status)
