"""Template filters for datetimes: relative to now, and in time zones."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.core import relative_dates, time_zones

register = template.Library()


@register.filter
def to_the_second(moment: datetime | None) -> str:
    """Format a datetime in UTC as `2026-03-01 23:59`, with seconds if they are not zero; empty for None.

    Seconds are shown so that a deadline never seems earlier than it is.
    """
    return "" if moment is None else f"{moment.astimezone(UTC):{time_zones.written(moment)}}"


@register.filter
def deadline(moment: datetime | None) -> SafeString:
    """Return a `<time>` element such as `2026-03-01 23:59 UTC`, to which a script adds the reader's local time.

    Empty for None.
    """
    if moment is None:
        return SafeString("")
    return format_html(
        '<time datetime="{}" data-deadline>{} UTC</time>', moment.astimezone(UTC).isoformat(), to_the_second(moment)
    )


@register.filter
def in_zone(moment: datetime | None, name: str) -> str:
    """Format a datetime in the time zone `name`, as `2026-03-01 23:59 AoE`; empty for None.

    Also empty for the zone UTC, since pages show times in UTC anyway.
    """
    return "" if moment is None or name == "UTC" else time_zones.shown(moment, name)


@register.filter
def relative(moment: datetime | None) -> SafeString:
    """Return a `<time>` element such as `3 days ago`, with the exact time in UTC as its tooltip; empty for None."""
    if moment is None:
        return SafeString("")
    words = relative_dates.in_words(moment, timezone.now())
    exact = f"{to_the_second(moment)} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, words)
