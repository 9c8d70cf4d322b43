"""Template filter `markdown`: renders Markdown texts of organisers as safe HTML."""

from __future__ import annotations

from django import template

from leaderboard.core.web.markdown import to_html

register = template.Library()
register.filter("markdown", to_html)
