"""Template filter for sizes in decimal units, as `docker` shows them."""

from __future__ import annotations

from django import template

from leaderboard.evaluation.container_limits_text import size

register = template.Library()
register.filter("decimal", size)
