"""Strips in tables: points and intervals on one scale."""

from __future__ import annotations

from evaluator.disclosure.ladder import Bounds
from leaderboard.boards.queries import NO_SCORE, ShownScore
from leaderboard.boards.web.charts.strips import Strip, strips_of


def test_strips_share_a_scale_that_contains_all_intervals() -> None:
    strips = strips_of([ShownScore(0.5, 0.4, 0.8), NO_SCORE, ShownScore(0.0)], band=(0.4, 0.8))
    assert strips.strips == [
        Strip("62.50%", "50.00%", "100.00%", has_interval=True, is_range=False),
        None,
        Strip("0.00%", "0.00%", "0.00%", has_interval=False, is_range=False),
    ]
    assert [label for _, label in strips.ticks] == ["0.0", "0.2", "0.4", "0.6", "0.8"]
    assert strips.band == ("50.00%", "50.00%") and strips.zero is None


def test_a_scale_of_differences_contains_zero() -> None:
    strips = strips_of([ShownScore(0.5, 0.4, 0.6)], with_zero=True)
    assert strips.zero == "0.00%" and strips.ticks[0][1] == "0.0"


def test_a_ladders_score_is_a_range_without_a_point() -> None:
    (strip,) = strips_of([ShownScore(0.4, bounds=Bounds(0.4, 0.6))]).strips
    assert strip is not None and strip.is_range and not strip.has_interval and strip.low != strip.high


def test_without_values_there_is_no_scale() -> None:
    assert strips_of([NO_SCORE]).ticks == [] and strips_of([NO_SCORE]).strips == [None]
