"""Template filter for proportions."""

from __future__ import annotations

import math

from django import template

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """Format as per cent with one decimal, rounded down: a value below a bound never reads as if it reached it."""
    if value is None:
        return "\N{EN DASH}"
    tenths = math.floor(value * 1000 + 1e-9)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"
