"""How shares of a whole read on a page."""

from __future__ import annotations

import math

from django import template

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """In per cent with a decimal, rounded down: what falls short of a bound does not read as if it reached it."""
    if value is None:
        return "\N{EN DASH}"
    tenths = math.floor(value * 1000 + 1e-9)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"
