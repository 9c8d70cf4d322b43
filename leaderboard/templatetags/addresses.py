"""Links that change one thing of the page's own address."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from leaderboard.evaluation.scorer_of_phase import Scoring
from leaderboard.models import Benchmark

register = template.Library()


@register.simple_tag
def about_measures(scoring: Scoring, benchmark: Benchmark) -> str:
    """The page that says what each measure means: the task's, or that of the organisers' own scorer."""
    if scoring.scorer is None:
        return reverse("measures", args=[scoring.task.name])
    return reverse("scorer_measures", args=[benchmark.slug, scoring.scorer.number])


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: str | None) -> str:
    """The query string with these parameters set, or dropped where the value is empty. Whatever is changed, one begins
    with the first page again."""
    query = context["request"].GET.copy()
    query.pop("page", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}"
