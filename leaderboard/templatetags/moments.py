"""How moments read on the clocks of a place."""

from __future__ import annotations

from datetime import datetime

from django import template

from leaderboard import zones

register = template.Library()


@register.filter
def in_zone(moment: datetime | None, name: str) -> str:
    """`2026-03-01 23:59 AoE`; nothing where that is UTC, which stands there anyway."""
    return "" if moment is None or name == "UTC" else zones.shown(moment, name)
