"""Template filters that render coloured table cells: in Python, because a board has thousands of them."""

from __future__ import annotations

from html import escape  # Django's is lazy, which costs more than the escaping

from django import template
from django.utils.safestring import SafeString

from leaderboard.boards.queries import ShownScore
from leaderboard.boards.web.tables.heat_rows import HeatCell
from leaderboard.boards.web.tables.number_format import NONE, compact_score, in_words, interval, shown_value

register = template.Library()
BEST = SafeString('<span class="visually-hidden"> best</span>')


@register.filter
def heat_td(heat: HeatCell, more: str = "") -> SafeString:
    """Render a score as a table cell with three decimals, and with its interval and n as the tooltip.

    more: a further CSS class.
    """
    return _td(heat, compact_score(heat.score), more, _reasoned(in_words(heat.score, with_value=False), heat))


@register.filter
def column_td(heat: HeatCell, has_tooltip: bool = True) -> SafeString:
    """Render a cell like `heat_td`, below a heading with n, which the tooltip leaves out.

    has_tooltip False: only a cell without value has a tooltip, with the reason.
    """
    phrase = in_words(heat.score, with_value=False, with_n=False) if has_tooltip or heat.reason else ""
    return _td(heat, compact_score(heat.score), "", _reasoned(phrase, heat))


@register.filter
def matrix_td(heat: HeatCell, more: str = "") -> SafeString:
    """Render a score as a cell of a compact table, with two decimals. more: a further CSS class.

    The tooltip has the score with three decimals, its interval and n.
    """
    return _td(heat, compact_score(heat.score, 2), more, why(heat))


@register.filter
def detail_tds(shown_score: ShownScore, has_intervals: bool) -> SafeString:
    """Render the table cells of a score: value, and confidence interval if the table has intervals."""
    parts = [shown_value(shown_score), *[interval(shown_score) or NONE] * has_intervals]
    # Formatted numbers only: nothing to escape.
    return SafeString("".join(f'<td class="num">{part}</td>' for part in parts))


@register.filter
def why(heat: HeatCell) -> str:
    """Return the tooltip of a cell: its score in words, with the reason if it has no value."""
    return _reasoned(in_words(heat.score), heat)


def _reasoned(phrase: str, heat: HeatCell) -> str:
    return f"{phrase}: {heat.reason}" if heat.reason else phrase


def _td(heat: HeatCell, shown: str, more: str, title: str) -> SafeString:
    classes = " ".join(filter(None, ("num", heat.shade, "best" if heat.best else "", more)))
    best = BEST if heat.best else ""
    titled = f' title="{escape(title)}"' if title else ""
    return SafeString(f'<td class="{classes}"{titled}>{escape(shown)}{best}</td>')
