"""Management pages of benchmarks: list, create, show and publish them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Count, Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.benchmarks.queries import management
from leaderboard.benchmarks.web.forms.benchmark import BenchmarkForm
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.boards.queries.prepared_board import outdated_version, progress_of
from leaderboard.boards.queries.reported_results import left_out
from leaderboard.core.refusal import Refused
from leaderboard.core.rights import is_curator, is_operator, manages_benchmarks
from leaderboard.core.web.access import PersonRequest, needs
from leaderboard.core.web.refusals import Refusal
from leaderboard.datasets.actions import datasets
from leaderboard.evaluation import container_limits_text
from leaderboard.models import Benchmark, GoldVersion, HiddenSubmission, NearDuplicate, Phase, Split, User
from leaderboard.work_queue import worker_status


@needs(manages_benchmarks)
@require_safe
def index(request: PersonRequest) -> HttpResponse:
    """List the benchmarks that the user manages: for curators all benchmarks."""
    rows = Benchmark.objects.all() if request.user.is_curator else request.user.benchmarks.all()
    rows = rows.annotate(
        n_phases=Count("phases", distinct=True), n_submissions=Count("phases__submissions", distinct=True)
    )
    rows = rows.order_by("state", "title")
    waiting = management.n_waiting(rows)
    # The package of a benchmark's task may have been removed.
    titles = {name: TASKS[name].title for name in TASKS}
    listed = [(benchmark, titles.get(benchmark.task, benchmark.task), waiting[benchmark.pk]) for benchmark in rows]
    may = {"may_create": is_curator(request.user), "may_operate": is_operator(request.user)}
    return render(request, "benchmarks/manage_index.html", {"benchmarks": listed, **may})


@needs(is_curator)
@require_http_methods(["GET", "POST"])
def create(request: PersonRequest) -> HttpResponse:
    """Create a draft benchmark, with a new dataset unless one is chosen."""
    form = BenchmarkForm(request.POST or None)
    refusal = None
    if form.is_valid():
        try:
            return redirect("manage_benchmark", _create(form.cleaned_data, request.user).slug)
        except Refused as refused:
            refusal = Refusal(refused)
    status = refusal.status if refusal else 422 if form.errors else 200
    return render(request, "benchmarks/manage_benchmark_form.html", {"form": form, "refusal": refusal}, status=status)


@transaction.atomic
def _create(form: dict[str, Any], by: User) -> Benchmark:
    names = {name: form[name] for name in ("slug", "title", "task")}
    dataset = form["dataset"] or datasets.create(
        **names, by=by, **{name: form[name] for name in ("licence", "citation", "source_url")}
    )
    texts = {name: form[name] for name in ("summary", "description", "rules")}
    return benchmarks.create(**names, **texts, dataset=dataset, by=by)


@login_required
@require_safe
def benchmark(request: PersonRequest, slug: str) -> HttpResponse:
    """Show a benchmark to its managers: its splits, their gold versions, and its phases."""
    return page(request, managed_or_404(request.user, slug))


@login_required
@require_POST
def publish(request: PersonRequest, slug: str) -> HttpResponse:
    """Publish the benchmark."""
    benchmark_row = managed_or_404(request.user, slug)
    try:
        benchmarks.publish(benchmark=benchmark_row, by=request.user)
    except Refused as refused:
        return page(request, benchmark_row, Refusal(refused))
    messages.success(request, f"{benchmark_row.title} is now public.")
    return redirect("manage_benchmark", slug)


def _scorers_away(phases: Sequence[Phase]) -> str:
    """Return why scorer images cannot run now; empty: they can, or no phase has a scorer image."""
    return worker_status.of(worker_status.SCORERS).why_not if any(phase.scorer_id for phase in phases) else ""


def _gpus_away(phase: Phase) -> str:
    """Return why no worker has the GPUs that the phase asks for; empty: one has, or it asks for none."""
    return worker_status.why_no_gpus(phase.gpus, phase.gpu_memory_gb) if phase.gpus and phase.takes_images else ""


def _unscored_private(phases: Sequence[Phase]) -> list[tuple[Split, list[Phase]]]:
    """Return the splits whose public groups a phase scores, and whose private groups no phase scores alone.

    With each split come the phases that score all its groups, and so tell about the private ones.
    """
    by_subset = {subset: [phase for phase in phases if phase.subset == subset] for subset in Phase.Subset}
    scored = {phase.split for phase in by_subset[Phase.Subset.PRIVATE]}
    unscored = dict.fromkeys(phase.split for phase in by_subset[Phase.Subset.PUBLIC] if phase.split not in scored)
    return [(split, [phase for phase in by_subset[Phase.Subset.WHOLE] if phase.split == split]) for split in unscored]


def page(request: PersonRequest, benchmark: Benchmark, refusal: Refusal | None = None) -> HttpResponse:
    """Render the management page of a benchmark.

    refusal: why an action was refused, shown at the top of the page; None: none was.
    """
    versions = Prefetch("gold_versions", GoldVersion.objects.order_by("-number"))
    phases = list(benchmark.phases.select_related("split__dataset").annotate(n_submissions=Count("submissions")))
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "splits": benchmark.dataset.splits.prefetch_related(versions).order_by("id"),
        "phases": [(phase, progress_of(phase), outdated_version(phase)) for phase in phases],
        "why_not": benchmarks.why_not_published(benchmark) if benchmark.is_draft else "",
        "containers": [(phase, container_limits_text.of(phase)) for phase in phases if phase.takes_images],
        "unscored_private": _unscored_private(phases),
        "scorers_away": _scorers_away(phases),
        "gpus_away": [(phase, why_not) for phase in phases if (why_not := _gpus_away(phase))],
        "n_near_duplicates": NearDuplicate.objects.filter(phase__benchmark=benchmark, dismissed_at=None).count(),
        "n_hidden": HiddenSubmission.objects.now().filter(submission__phase__benchmark=benchmark).count(),
        "left_out": left_out(benchmark),
        "waiting": management.waiting_for_organisers(benchmark),
        "activity": management.activity_of(benchmark),
        "organisers": benchmark.organisers.order_by("username"),
        "refusal": refusal,
    }
    return render(request, "benchmarks/manage_benchmark.html", context, status=refusal.status if refusal else 200)
