"""Moments are never rounded to an earlier one."""

from __future__ import annotations

from datetime import UTC, datetime

from leaderboard.core import time_zones
from leaderboard.templatetags.moments import deadline, in_zone, to_the_second

WHOLE, WITHIN = datetime(2026, 3, 4, 12, 0, tzinfo=UTC), datetime(2026, 3, 4, 12, 0, 59, tzinfo=UTC)


def test_seconds_are_shown_unless_they_are_zero() -> None:
    assert (to_the_second(WHOLE), to_the_second(WITHIN)) == ("2026-03-04 12:00", "2026-03-04 12:00:59")
    assert to_the_second(None) == deadline(None) == ""
    shown = '<time datetime="2026-03-04T12:00:59+00:00" data-deadline>2026-03-04 12:00:59 UTC</time>'
    assert deadline(WITHIN) == shown
    assert in_zone(WITHIN, "AoE") == "2026-03-04 00:00:59 AoE"
    assert time_zones.describe(WHOLE, "AoE") == "2026-03-04 12:00 UTC (2026-03-04 00:00 AoE)"
