"""The stair of best scores: where it ends, and that each number can be read."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from leaderboard.boards.queries import ShownScore
from leaderboard.boards.web.charts.progress import RADIUS, Mark, Moment, progress_chart

AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def marks(*told: tuple[int, float]) -> list[Mark]:
    """Of (minute, value) in the order of time."""
    moments = [
        Moment(number, "", AT + timedelta(minutes=minute), ShownScore(value, None, None, 4))
        for number, (minute, value) in enumerate(told, 1)
    ]
    chart = progress_chart(moments)
    assert chart is not None
    return list(chart.marks)


def test_the_axis_ends_with_the_last_result() -> None:
    for minutes in (0, 5, 5000):
        moments = [
            Moment(n, "", AT + timedelta(minutes=at), ShownScore(0.5, None, None, 4))
            for n, at in ((1, 0), (2, minutes))
        ]
        chart = progress_chart(moments)
        assert chart is not None
        ends = moments[-1].at
        assert chart.ticks[-1][1] in (f"{ends:%m-%d %H:%M}", f"{ends:%Y-%m-%d}")
        assert chart.marks[-1].x == chart.ticks[-1][0]


def test_numbers_that_would_cover_each_other_stand_side_by_side() -> None:
    for early in (True, False):
        told = [(0, 0.5), (1, 0.501), (2, 0.502)]
        found = marks(*told, (9000, 0.9)) if early else marks((-9000, 0.1), *told)
        crowd = found[:3] if early else found[1:]
        places = [mark.aside for mark in crowd]
        assert all(later - one > 2 * RADIUS for one, later in itertools.pairwise(places))
        assert 0 in places and (min(places) >= 0) == early, "towards the middle, off no edge"
    assert [mark.aside for mark in marks((0, 0.1), (1, 0.9))] == [0, 0], "far in height"
    assert [mark.aside for mark in marks((0, 0.5), (600, 0.5))] == [0, 0], "far in time"
