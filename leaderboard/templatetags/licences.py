"""Template filter `licence`: a dataset's licence by name, linked to its text."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from leaderboard.core import spdx

register = template.Library()


@register.filter
def licence(text: str) -> SafeString:
    """Return a licence as HTML: the names of SPDX licences as links to their texts, and all other text escaped."""
    words = [
        format_html('<a href="{}" rel="license noopener">{}</a>', part.url, part.text)
        if part.url
        else format_html("{}", part.text)
        for part in spdx.parts(text)
    ]
    return mark_safe(" ".join(words).replace("( ", "(").replace(" )", ")"))  # noqa: S308  each word is escaped
