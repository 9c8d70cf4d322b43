"""Coloured cells as markup; filters, because a board has thousands of them."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.templatetags.numbers import compact, in_words
from leaderboard.web.heat_rows import HeatCell

register = template.Library()
BEST = SafeString('<span class="visually-hidden"> best</span>')


@register.filter
def heat_td(heat: HeatCell, more: str = "") -> SafeString:
    """A cell with three decimals. `more`: another class."""
    return _td(heat, compact(heat.cell.value), more)


@register.filter
def matrix_td(heat: HeatCell, more: str = "") -> SafeString:
    """A cell with two decimals, for tables that must be small; the title has three."""
    return _td(heat, compact(heat.cell.value, 2), more)


@register.filter
def why(heat: HeatCell) -> str:
    """The cell as one phrase, with the reason where there is no value."""
    said = in_words(heat.cell)
    return f"{said}: {heat.reason}" if heat.reason else said


def _td(heat: HeatCell, shown: str, more: str) -> SafeString:
    classes = " ".join(filter(None, ("num", heat.shade, "best" if heat.best else "", more)))
    best = BEST if heat.best else ""
    return format_html('<td class="{}" title="{}">{}{}</td>', classes, why(heat), shown, best)
