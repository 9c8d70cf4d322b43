"""Template filter for proportions."""

from __future__ import annotations

import math

from django import template

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """Format a proportion in per cent with at most one decimal, rounded down; None as an en dash.

    Rounding down prevents that a value just below a threshold is shown as equal to it.
    """
    if value is None:
        return "\N{EN DASH}"
    tenths = math.floor(value * 1000 + 1e-9)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"
