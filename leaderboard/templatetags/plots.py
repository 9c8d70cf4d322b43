"""Template tags for the addresses of plots."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

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
    """Return the URL path of a picture of a plot of the page's board. The picture exists once it is rendered.

    plot: its name. suffix: `svg` or `png`.
    """
    board = context["board"]
    name = f"{'frozen_' if board.frozen else ''}plot_{suffix}"
    return reverse(name, args=[board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ()), plot])
