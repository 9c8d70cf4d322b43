"""Template filter for disclosure policies."""

from __future__ import annotations

from django import template

from evaluator.disclosure.ladder import format_unit_step

register = template.Library()


@register.filter
def step_of(n_groups: int) -> str:
    """Format the step by which a score must beat the best shown one on a ladder, for a measure between 0 and 1.

    It has three significant digits, such as `0.0158`. n_groups: number of groups in the gold, on which it depends.
    """
    return format_unit_step(n_groups)
