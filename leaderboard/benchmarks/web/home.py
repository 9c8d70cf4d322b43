"""Home page: what Holdout is, and the list of benchmarks."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.models import Benchmark, Release, System

PAGE = 30


@require_safe
@conditional_page
def home(request: HttpRequest) -> HttpResponse:
    """List benchmarks. `?search=`: words that must all occur in titles, slug or texts; `?task=`: name of a task."""
    words = request.GET.get("search", "").replace("\0", "")[:200]
    task = request.GET.get("task", "")
    visible = Benchmark.objects.visible_to(request.user)
    benchmarks = visible.select_related("dataset").annotate(
        n_systems=Count("phases__leaderboards__standings__system", distinct=True),
        n_phases=Count("phases", distinct=True),
    )
    for word in words.split():
        benchmarks = benchmarks.filter(
            Q(title__icontains=word)
            | Q(summary__icontains=word)
            | Q(description__icontains=word)
            | Q(slug__icontains=word)
            | Q(dataset__title__icontains=word)
        )
    if task in TASKS:
        benchmarks = benchmarks.filter(task=task)
    page = Paginator(benchmarks.order_by("title", "pk"), PAGE).get_page(request.GET.get("page"))
    ranked = Q(standings__leaderboard__phase__benchmark__state=Benchmark.State.PUBLIC)
    public = Q(phase__benchmark__state=Benchmark.State.PUBLIC)
    context = {
        "page": page,
        "words": words,
        "task": task if task in TASKS else "",
        "tasks": TASKS,
        "n_benchmarks": Benchmark.objects.public().count(),
        "n_systems": System.objects.filter(ranked).distinct().count(),
        "n_scored": Release.objects.filter(public).count(),
    }
    return render(request, "benchmarks/home.html", context)
