"""Public pages of the tasks and their measures."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.models import Benchmark


@require_safe
@conditional_page
def tasks(request: HttpRequest) -> HttpResponse:
    return render(request, "benchmarks/tasks.html", {"tasks": TASKS.values()})


@require_safe
@conditional_page
def measures(request: HttpRequest, task: str) -> HttpResponse:
    if task not in TASKS:
        raise Http404("no such task")
    visible = Benchmark.objects.visible_to(request.user).filter(task=task)
    return render(request, "benchmarks/measures.html", {"task": TASKS[task], "benchmarks": visible})
