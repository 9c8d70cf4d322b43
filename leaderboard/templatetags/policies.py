"""Template filter for disclosure policies."""

from __future__ import annotations

from django import template

from leaderboard.boards.disclosure.ladder import format_unit_step

register = template.Library()


@register.filter
def step_of(n_groups: int) -> str:
    """Format the step of a ladder for a measure between 0 and 1, to three digits: `0.0158`."""
    return format_unit_step(n_groups)
