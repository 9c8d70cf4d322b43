"""Template tags for the addresses of plots."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

register = template.Library()


@register.simple_tag(takes_context=True)
def plot_spec(context: dict[str, Any], plot: str) -> str:
    """Return the API address of a plot of the page's board, with the page's own query parameters."""
    board = context["board"]
    query = context["request"].GET.copy()
    if board.frozen:
        query["gold_version"], query["task_version"] = map(str, board.frozen)
    address = reverse("api_plot", args=[board.phase.benchmark.slug, board.phase.slug, plot])
    return address + (f"?{query.urlencode()}" if query else "")


@register.simple_tag(takes_context=True)
def plot_picture(context: dict[str, Any], plot: str, suffix: str) -> str:
    """Return the address of a plot of the page's board as a picture, which exists once it is rendered.

    suffix: `svg` or `png`.
    """
    board = context["board"]
    name = f"{'frozen_' if board.frozen else ''}plot_{suffix}"
    return reverse(name, args=[board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ()), plot])
