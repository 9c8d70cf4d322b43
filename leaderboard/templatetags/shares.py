"""Template filter for proportions."""

from __future__ import annotations

import math

from django import template

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """Format a proportion from 0 to 1 in per cent, rounded down to at most one decimal; None as an en dash.

    It is rounded down so that a value just below a threshold is not shown as equal to the threshold.
    """
    if value is None:
        return "\N{EN DASH}"
    tenths = math.floor(value * 1000 + 1e-9)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"
