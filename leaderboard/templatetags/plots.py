"""Template tags for the addresses of plots."""

from __future__ import annotations

from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse

from leaderboard.models import Benchmark

register = template.Library()


@register.simple_tag(takes_context=True)
def plot_spec(context: dict[str, Any], plot: str) -> str:
    """Return the API's URL path of a plot of the page's board, with the page's query parameters.

    plot: its name. For a frozen board, the gold version and task version are added to these.
    """
    board = context["board"]
    query = context["request"].GET.copy()
    if board.frozen:
        query["gold_version"], query["task_version"] = map(str, board.frozen)
    address = reverse("api_plot", args=[board.phase.benchmark.slug, board.phase.slug, plot])
    return address + (f"?{query.urlencode()}" if query else "")


@register.simple_tag(takes_context=True)
def plot_picture(context: dict[str, Any], plot: str, suffix: str) -> str:
    """Return the URL path of a picture of a plot of the page's board, which exists once a worker has rendered it.

    Empty if none will be: pictures are off, the page has a query, or not everybody may see it. plot: its name. suffix:
    `svg` or `png`.
    """
    board = context["board"]
    is_public = board.phase.benchmark.state == Benchmark.State.PUBLIC
    if not settings.PLOT_PICTURES or context["request"].GET or not is_public:
        return ""
    name = f"{'frozen_' if board.frozen else ''}plot_{suffix}"
    return reverse(name, args=[board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ()), plot])
