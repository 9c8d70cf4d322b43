"""Public page of a benchmark: description, data, phases, and the leaderboard of the main phase."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import board_of, by_primary
from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.intervals import interval_plot
from leaderboard.datasets.queries.errata import errata_of
from leaderboard.evaluation import container_limits_text
from leaderboard.models import Benchmark, Extension, GoldVersion, Phase, Team
from leaderboard.submissions.queries.quotas import quota_of

SHOWN = 10


@require_safe
@conditional_page
def benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_or_404(request.user, slug)
    phases = list(benchmark.phases.select_related("benchmark", "split"))
    versions = Prefetch("gold_versions", GoldVersion.objects.order_by("-number"), to_attr="versions")
    main = main_phase(phases)
    board = board_of(main, within=(), viewer=request.user) if main else None
    rows = by_primary(board) if board else []
    plot = interval_plot(rows[:SHOWN], board.primary) if board else None
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "splits": benchmark.dataset.splits.visible_to(request.user).prefetch_related(versions),
        "downloads": benchmark.dataset.downloads.all(),
        "phases": phases,
        "announcements": benchmark.announcements.all(),
        "extensions": Extension.objects.filter(phase__in=phases, team=None).select_related("phase"),
        "containers": [(phase, container_limits_text.of(phase)) for phase in phases if phase.takes_images],
        "main": main,
        "board": board,
        "rows": rows,
        "top": [(row, row.score(board.primary), plot.strip(row) if plot else None) for row in rows[:SHOWN]]
        if board
        else [],
        "n_more": len(rows) - SHOWN,
        "plot": plot,
        "boards": other_boards(board) if board else [],
        "reported": reported_of(benchmark),
        "errata": errata_of(benchmark, viewer=request.user),
        "quota": quota_of(phase=main, team=_team(request)) if main and request.user.is_authenticated else None,
        "follows": request.user.is_authenticated and benchmark.follows.filter(user=request.user).exists(),
        "is_manager": benchmark.is_managed_by(request.user),
        "is_draft": benchmark.state == Benchmark.State.DRAFT,
    }
    return render(request, "benchmarks/benchmark.html", context)


def main_phase(phases: Sequence[Phase]) -> Phase | None:
    """Return the phase whose leaderboard the benchmark's page shows; None: there is no phase.

    It is the last phase with hidden gold that has opened, else the last phase that has opened, else the first phase.
    """
    now = timezone.now()
    begun = [phase for phase in phases if phase.opens_at is None or phase.opens_at <= now]
    hidden = [phase for phase in begun if not phase.split.gold_public]
    for candidates in (hidden, begun):
        if candidates:
            return candidates[-1]
    return phases[0] if phases else None


def _team(request: HttpRequest) -> Team | None:
    """Return the team that the user joined first; None if there is none."""
    return Team.objects.filter(members=request.user.pk).order_by("membership__id").first()
