"""Public page of a custom scorer and its measures, linked from a board's columns."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.evaluation.scorer_of_phase import PhaseScorer
from leaderboard.models import Run


@require_safe
@conditional_page
def scorer(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the custom scorer `number` of a benchmark. Until it scores or has scored a phase, only managers see it."""
    benchmark = benchmark_or_404(request.user, slug)
    row = get_object_or_404(benchmark.scorers.select_related("image"), number=number)
    phases = list(benchmark.phases.filter(scorer=row))
    if not phases and not benchmark.is_managed_by(request.user) and not Run.objects.filter(scorer=row).exists():
        raise Http404
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "scorer": row,
        "measures": PhaseScorer(TASKS[benchmark.task], row).declared,
        "phases": phases,
    }
    return render(request, "containers/scorer.html", context)
