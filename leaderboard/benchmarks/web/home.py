"""Home page: what Holdout is, and the list of benchmarks."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.benchmarks.queries import cards
from leaderboard.benchmarks.web.charts.leader_strip import leader_strip
from leaderboard.models import Benchmark

PAGE = 30
ORDER_TITLES = {"active": "Recent results", "new": "Newest", "closing": "Closing soon"}


@require_safe
@conditional_page
def home(request: HttpRequest) -> HttpResponse:
    """List benchmarks.

    `?search=`: words that must all occur in titles, slug or texts; `?task=`: name of a task; `?sort=`: a key of
    ORDER_TITLES.
    """
    words = request.GET.get("search", "").replace("\0", "")[:200]
    task = request.GET.get("task", "")
    order = request.GET.get("sort", "")
    order = order if order in ORDER_TITLES else "active"
    found = Benchmark.objects.visible_to(request.user)
    for word in words.split():
        found = found.filter(
            Q(title__icontains=word)
            | Q(summary__icontains=word)
            | Q(description__icontains=word)
            | Q(slug__icontains=word)
            | Q(dataset__title__icontains=word)
        )
    counts = dict(found.order_by().values_list("task").annotate(n=Count("pk", distinct=True)))
    of_task = found.filter(task=task) if task in counts else found
    page = Paginator(cards.listed(of_task, order), PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "cards": [(card, leader_strip(card.leader)) for card in cards.cards_of(list(page))],
        "words": words,
        "task": task if task in counts else "",
        "tasks": [(name, entry.title, counts[name]) for name, entry in TASKS.items() if name in counts],
        "n_found": sum(counts.values()),
        "order": order,
        "orders": ORDER_TITLES.items(),
    }
    return render(request, "benchmarks/home.html", context)
