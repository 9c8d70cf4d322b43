"""How moments read on the clocks of a place."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template

from leaderboard.core import time_zones

register = template.Library()


@register.filter
def to_the_second(moment: datetime | None) -> str:
    """`2026-03-01 23:59`, with its seconds where it has some: a deadline is not told earlier than it is."""
    return "" if moment is None else f"{moment.astimezone(UTC):{time_zones.written(moment)}}"


@register.filter
def in_zone(moment: datetime | None, name: str) -> str:
    """`2026-03-01 23:59 AoE`; nothing where that is UTC, which stands there anyway."""
    return "" if moment is None or name == "UTC" else time_zones.shown(moment, name)
