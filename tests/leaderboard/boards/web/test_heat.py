"""Shades of the heat table."""

from __future__ import annotations

import pytest

from evaluator.measures.base import Ratio, statistic
from leaderboard.boards.web.charts.heat import LEVELS, level

RIGHT = Ratio(
    name="accuracy",
    title="Accuracy",
    units=statistic("one"),
    numerator=statistic("right"),
    denominator=statistic("one"),
    doc="",
    source="",
)
WRONG = Ratio(
    name="error",
    title="Error",
    units=statistic("one"),
    numerator=statistic("wrong"),
    denominator=statistic("one"),
    doc="",
    source="",
    higher_is_better=False,
)
ENDLESS = Ratio(
    name="ratio",
    title="Ratio",
    units=statistic("one"),
    numerator=statistic("a"),
    denominator=statistic("b"),
    doc="",
    source="",
    high=float("inf"),
)


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0), (0.04, 0), (0.06, 1), (0.5, 5), (0.96, 10), (1.0, 10)])
def test_a_value_is_shaded_by_its_position_between_the_bounds(value: float, expected: int):
    assert level(value, RIGHT) == expected
    assert level(value, WRONG) == LEVELS - expected


def test_no_value_or_no_bound_has_no_shade():
    assert level(None, RIGHT) is None
    assert level(3.0, ENDLESS) is None
