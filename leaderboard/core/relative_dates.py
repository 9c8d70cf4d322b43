"""Dates in relation to now: "3 days ago", "in 12 days"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_UNITS = (
    ("year", timedelta(days=365)),
    ("month", timedelta(days=30)),
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def in_words(moment: datetime, at: datetime) -> str:
    """Describe `moment` relative to `at`: "5 hours ago", "in 12 days", "just now".

    Durations are rounded down, so a deadline is never described as later than it is. Days are used up to two months.
    """
    return _ago(at - moment)


def _ago(passed: timedelta) -> str:
    is_past = passed >= timedelta(0)
    duration = abs(passed)
    for unit, length in _UNITS:
        if duration >= (2 * length if unit == "month" else length):
            n = duration // length
            text = f"{n} {unit}{'s' if n > 1 else ''}"
            return f"{text} ago" if is_past else f"in {text}"
    return "just now" if is_past else "in less than a minute"


def in_days(moment: datetime, at: datetime) -> str:
    """Describe the UTC date of `moment` relative to that of `at`: "today", "yesterday", "3 days ago", "in 12 days".

    The text stays the same for a whole day in UTC, so that a response that contains it can be cached.
    """
    days = (moment.astimezone(UTC).date() - at.astimezone(UTC).date()).days
    return _days(days)


@lru_cache(maxsize=1000)
def _days(days: int) -> str:
    if abs(days) < 2:
        return {0: "today", 1: "tomorrow", -1: "yesterday"}[days]
    return _ago(timedelta(days=-days))
