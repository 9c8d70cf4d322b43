"""Template filter `decimal` for sizes in bytes: it formats them in decimal units (kB, MB, GB), as `docker` does."""

from __future__ import annotations

from django import template

from leaderboard.evaluation.container_limits_text import size

register = template.Library()
register.filter("decimal", size)
