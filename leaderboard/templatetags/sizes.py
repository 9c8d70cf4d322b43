"""Sizes as limits tell them: in decimal units, as `docker` does."""

from __future__ import annotations

from django import template

from leaderboard.evaluation.container_limits_text import size

register = template.Library()
register.filter("decimal", size)
