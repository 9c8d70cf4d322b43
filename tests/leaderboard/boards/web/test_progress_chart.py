"""The step chart of best scores: where it ends, and that each number is readable."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from leaderboard.boards.queries import ShownScore
from leaderboard.boards.web.charts.progress import RADIUS, Mark, ScoreAtTime, progress_chart

AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def marks(*points: tuple[int, float]) -> list[Mark]:
    """Marks from (minute, value) in order of time."""
    moments = [
        ScoreAtTime(number, "", AT + timedelta(minutes=minute), ShownScore(value, None, None, 4))
        for number, (minute, value) in enumerate(points, 1)
    ]
    chart = progress_chart(moments)
    assert chart is not None
    return list(chart.marks)


def test_the_axis_ends_with_the_last_result() -> None:
    for minutes in (0, 5, 5000):
        moments = [
            ScoreAtTime(n, "", AT + timedelta(minutes=at), ShownScore(0.5, None, None, 4))
            for n, at in ((1, 0), (2, minutes))
        ]
        chart = progress_chart(moments)
        assert chart is not None
        end = moments[-1].at
        assert chart.ticks[-1][1] in (f"{end:%m-%d %H:%M}", f"{end:%Y-%m-%d}")
        assert chart.marks[-1].x == chart.ticks[-1][0]


def test_numbers_that_would_overlap_are_side_by_side() -> None:
    for early in (True, False):
        points = [(0, 0.5), (1, 0.501), (2, 0.502)]
        all_marks = marks(*points, (9000, 0.9)) if early else marks((-9000, 0.1), *points)
        crowd = all_marks[:3] if early else all_marks[1:]
        offsets = [mark.aside for mark in crowd]
        assert all(later - earlier > 2 * RADIUS for earlier, later in itertools.pairwise(offsets))
        assert 0 in offsets and (min(offsets) >= 0) == early, "towards the middle, within the edges"
    assert [mark.aside for mark in marks((0, 0.1), (1, 0.9))] == [0, 0], "far apart in height"
    assert [mark.aside for mark in marks((0, 0.5), (600, 0.5))] == [0, 0], "far apart in time"
