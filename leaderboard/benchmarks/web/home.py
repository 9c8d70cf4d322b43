"""Home page: what Holdout is, and the list of benchmarks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Max, QuerySet, Subquery, Sum, Value
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.benchmarks.queries import cards
from leaderboard.boards.queries import ShownScore
from leaderboard.boards.web.charts.strips import Strips, strips_of
from leaderboard.boards.web.etag import is_anonymous
from leaderboard.core import response_cache
from leaderboard.models import Benchmark, Leaderboard, Phase, System, Teaser

PAGE = 30
ORDER_TITLES = {"active": "Recent results", "new": "Newest", "closing": "Closing soon"}


@require_safe
@conditional_page
def home(request: HttpRequest) -> HttpResponse:
    """List benchmarks.

    `?search=`: words that must all occur in titles, slug or texts; `?task=`: name of a task; `?sort=`: a key of
    ORDER_TITLES. Users who are not logged in get a page that was rendered within the same minute, unless `_state`
    has changed since.
    """
    if not is_anonymous(request):
        return _home(request)
    now = timezone.now()
    tag = f"{int(now.timestamp()) // 60} {list(_state(now))}"
    return response_cache.get_or_render(tag, f"{request.method} {request.build_absolute_uri()}", lambda: _home(request))


def _state(now: datetime) -> QuerySet[Any, Any]:
    """Return a query of one row, which changes with boards, benchmarks, pictures and the number of anonymous systems.

    now: the time at which a system counts as anonymous.
    """

    def total(rows: QuerySet[Any], aggregate: Any) -> Subquery:
        everything = rows.order_by().annotate(everything=Value(1)).values("everything")
        return Subquery(everything.annotate(total=aggregate).values("total"))

    boards = Leaderboard.objects.all()
    return (
        Benchmark.objects.public()
        .order_by()
        .values("state")
        .annotate(
            n=Count("pk"),
            last=Max("pk"),
            revisions=total(boards, Sum("revision")),
            current=total(boards.filter(state=Leaderboard.State.CURRENT), Sum("pk")),
            anonymous=total(System.objects.filter(anonymous_until__gt=now), Count("pk")),
            benchmark_edits=total(Benchmark.objects.all(), Sum("n_entries")),
            phase_edits=total(Phase.objects.all(), Sum("n_entries")),
            teasers=total(Teaser.objects.all(), Sum("pk")),
        )
        .values_list("n", "last", "revisions", "current", "anonymous", "benchmark_edits", "phase_edits", "teasers")
    )


def _home(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("search", "").replace("\0", "")[:200]
    task = request.GET.get("task", "")
    order = request.GET.get("sort", "")
    order = order if order in ORDER_TITLES else "active"
    found = Benchmark.objects.visible_to(request.user).search(words.split())
    counts = dict(found.order_by().values_list("task").annotate(n=Count("pk", distinct=True)))
    of_task = found.filter(task=task) if task in counts else found
    page = Paginator(cards.listed(of_task, order), PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "cards": [(card, _strips(card.leader)) for card in cards.cards_of(list(page))],
        "words": words,
        "task": task if task in counts else "",
        "tasks": [(name, entry.title, counts[name]) for name, entry in TASKS.items() if name in counts],
        "n_found": sum(counts.values()),
        "order": order,
        "orders": ORDER_TITLES.items(),
    }
    return render(request, "benchmarks/home.html", context)


def _strips(leader: cards.Leader | None) -> Strips | None:
    """Return a leader's score, first, and those of the systems after it; None if there is nothing to compare."""
    if leader is None or leader.score.value is None or not leader.others:
        return None
    return strips_of([leader.score, *map(ShownScore, leader.others)])
