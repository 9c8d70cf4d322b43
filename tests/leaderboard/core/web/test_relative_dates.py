"""Dates in relation to now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leaderboard.core.relative_dates import in_days, in_words
from leaderboard.templatetags.moments import relative

NOW = datetime(2026, 11, 23, 18, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=5, minutes=59), "5 hours ago"),
        (timedelta(days=3, hours=23), "3 days ago"),
        (timedelta(days=59), "59 days ago"),
        (timedelta(days=60), "2 months ago"),
        (timedelta(days=364), "12 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(seconds=-30), "in less than a minute"),
        (timedelta(days=-12, hours=-1), "in 12 days"),
        (-timedelta(hours=47), "in 1 day"),
    ],
)
def test_a_duration_is_rounded_down(ago: timedelta, words: str) -> None:
    assert in_words(NOW - ago, NOW) == words


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2026, 11, 23, 0, 0, tzinfo=UTC), "today"),
        (datetime(2026, 11, 22, 23, 59, tzinfo=UTC), "yesterday"),
        (datetime(2026, 11, 24, 0, 0, tzinfo=UTC), "tomorrow"),
        (datetime(2026, 11, 20, 23, 59, tzinfo=UTC), "3 days ago"),
        (datetime(2026, 12, 5, 1, 0, tzinfo=UTC), "in 12 days"),
    ],
)
def test_days_are_those_of_the_calendar_in_utc(moment: datetime, words: str) -> None:
    for hour in (0, 23):
        assert in_days(moment, NOW.replace(hour=hour)) == words


def test_the_element_has_the_exact_time() -> None:
    moment = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert str(relative(moment)).startswith(
        '<time datetime="2020-01-02T03:04:05+00:00" title="2020-01-02 03:04:05 UTC">'
    )
    assert relative(None) == ""
