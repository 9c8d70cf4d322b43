"""`/robots.txt` and `/sitemap.xml`: which public pages search engines should index."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.core.web.public_responses import SECONDS
from leaderboard.models import Benchmark, Leaderboard, Phase, Standing, System

PRIVATE = ("/accounts/", "/admin/", "/manage/", "/api/")
"""Beginnings of the addresses that no search engine should index. What is secret is protected by its own page."""
MAX_SYSTEMS = 5_000
"""Maximum number of systems in the sitemap: the newest ones. Boards link to all."""


@require_safe
@cache_control(public=True, max_age=SECONDS)
def robots(request: HttpRequest) -> HttpResponse:
    """Render robots.txt. It excludes addresses with a query string: they are other views of pages in the sitemap."""
    lines = ["User-agent: *", *(f"Disallow: {begin}" for begin in PRIVATE), "Disallow: /*?", ""]
    lines.append(f"Sitemap: {settings.BASE_URL}{reverse('sitemap')}")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@require_safe
@cache_control(public=True, max_age=SECONDS)
def sitemap(request: HttpRequest) -> HttpResponse:
    """Render the sitemap: the home page, docs, tasks, public benchmarks, their boards, and the systems on these."""
    urls = [f"<url><loc>{escape(settings.BASE_URL + path)}</loc></url>" for path in _paths()]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return HttpResponse(head + "\n".join(urls) + "\n</urlset>\n", content_type="application/xml")


def _paths() -> Iterator[str]:
    yield from (reverse("home"), reverse("docs"), reverse("tasks"))
    yield from (reverse("measures", args=[name]) for name in TASKS)
    benchmarks = Benchmark.objects.public()
    yield from (reverse("benchmark", args=[slug]) for slug in benchmarks.values_list("slug", flat=True))
    phases = Phase.objects.filter(benchmark__in=benchmarks.values("pk")).values_list("benchmark__slug", "slug")
    yield from (reverse("leaderboard", args=names) for names in phases)
    shown = Leaderboard.objects.filter(state=Leaderboard.State.CURRENT, phase__benchmark__in=benchmarks.values("pk"))
    named = Q(anonymous_until=None) | Q(anonymous_until__lte=timezone.now())
    on_boards = Exists(Standing.objects.filter(system=OuterRef("pk"), leaderboard__in=shown.values("pk")))
    newest = System.objects.filter(named, on_boards).order_by("-pk").values_list("pk", flat=True)[:MAX_SYSTEMS]
    # `reverse` would take most of the time.
    pattern = reverse("system", args=[0]).replace("0", "{}")
    yield from (pattern.format(pk) for pk in sorted(newest))
