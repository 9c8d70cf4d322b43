"""How disclosure policies read on a page."""

from __future__ import annotations

from django import template

from leaderboard.boards.disclosure.ladder import step_of_share

register = template.Library()


@register.filter
def step_of(n_groups: int) -> str:
    """A ladder's step for a share, in three digits: `0.0158`."""
    return step_of_share(n_groups)
