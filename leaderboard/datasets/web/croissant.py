"""Croissant metadata of a benchmark, for dataset search engines and machine-learning tools."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.core.web.public_responses import SECONDS
from leaderboard.datasets.queries.croissant import document_of


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
def croissant(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the Croissant document of a public benchmark; 404 for any other, also to its organisers."""
    document = document_of(benchmark_or_404(None, slug))
    return HttpResponse(document, content_type="application/ld+json", headers={"Access-Control-Allow-Origin": "*"})
