"""Template tags for links."""

from __future__ import annotations

from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse

from leaderboard.boards.queries import WHOLE, Board, Slice
from leaderboard.boards.web import board_links
from leaderboard.evaluation.scorer_of_phase import PhaseScorer
from leaderboard.models import Benchmark, Phase

register = template.Library()


@register.simple_tag
def about_measures(scoring: PhaseScorer, benchmark: Benchmark) -> str:
    """Return the URL of the page that describes the measures of a phase's task or custom scorer."""
    if scoring.scorer is None:
        return reverse("measures", args=[scoring.task.name])
    return reverse("scorer_measures", args=[benchmark.slug, scoring.scorer.number])


@register.simple_tag(takes_context=True)
def canonical_url(context: dict[str, Any]) -> str:
    """Return the absolute URL of the requested page without its query string; empty if no request is in the context.

    Search engines index all views of the page under this URL.
    """
    request = context.get("request")
    return f"{settings.BASE_URL}{request.path}" if request else ""


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: str | None) -> str:
    """Return the request's query string, from "?" on, with the parameters `changes` set, or removed if empty.

    The parameter `page` is removed too, so that a changed list begins at its first page.
    """
    query = context["request"].GET.copy()
    query.pop("page", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}"


@register.simple_tag
def board_data(board: Board, slice_: Slice | str, view: str) -> str:
    """Return the URL of a board's CSV or JSON, see `board_links.board_data`. slice_: WHOLE or "" for all units."""
    return board_links.board_data(board, WHOLE if isinstance(slice_, str) else slice_, view=view)


@register.simple_tag(takes_context=True)
def path_of_view(context: dict[str, Any], board: Board) -> str:
    """Return the path of the requested page, without the versions if `board` is current, as tabs link to its views."""
    path: str = context["request"].path
    if board.leaderboard is None or board.frozen:
        return path
    phase = [board.phase.benchmark.slug, board.phase.slug]
    version = [board.leaderboard.gold_version.number, board.leaderboard.task_version]
    versioned = reverse("frozen_board", args=[*phase, *version])
    return path.replace(versioned, reverse("leaderboard", args=phase), 1)


@register.simple_tag(takes_context=True)
def phase_links(context: dict[str, Any], phase: Phase) -> list[board_links.PhaseLink]:
    """Return links to the boards of all phases of the phase's benchmark, each to the same view as the requested page.

    See `board_links.phase_links`.
    """
    return board_links.phase_links(context["request"], phase)
