"""Format of numbers on a page."""

from __future__ import annotations

import pytest

from leaderboard.boards.queries import NO_SCORE, ShownScore
from leaderboard.boards.web.tables.number_format import bound, breakable, compact, in_words, interval, score

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"


@pytest.mark.parametrize(
    ("value", "full", "dense"),
    [
        (0.5231, "0.523", ".523"),
        (0.0, "0.000", ".000"),
        (-0.0, "0.000", ".000"),
        (-0.0001, "0.000", ".000"),
        (1.0, "1.000", "1.000"),
        (-0.0255, f"{MINUS}0.025", f"{MINUS}.025"),
        (10.0005, "10.001", "10.001"),
        (None, DASH, DASH),
    ],
)
def test_scores_have_three_decimals(value: float | None, full: str, dense: str):
    assert score(value) == full
    assert compact(value) == dense


def test_intervals_are_in_brackets_or_absent():
    assert interval(ShownScore(0.5, 0.4, 0.6, 10)) == "[0.400, 0.600]"
    assert interval(ShownScore(0.5, None, None, 1)) == ""
    assert interval(NO_SCORE) == ""


def test_a_cell_has_a_text_for_screen_readers():
    assert in_words(ShownScore(0.523, 0.501, 0.546, 124)) == "0.523, interval 0.501 to 0.546, n 124"
    assert in_words(ShownScore(0.523, 0.501, 0.546, 124), with_value=False) == "interval 0.501 to 0.546, n 124"
    assert in_words(ShownScore(0.523, 0.501, 0.546, 124), with_n=False) == "0.523, interval 0.501 to 0.546"
    assert in_words(ShownScore(0.5, None, None, 1)) == "0.500, n 1"
    assert in_words(NO_SCORE) == "no value"


def test_bounds_are_short():
    assert [bound(value) for value in (0.0, 1.0, -1.0, 0.5, float("inf"))] == ["0", "1", f"{MINUS}1", "0.5", "∞"]


@pytest.mark.parametrize(("value", "expected"), [(0.876, ".88"), (1.0, "1.00"), (-0.004, ".00"), (None, DASH)])
def test_small_tables_have_two_decimals(value: float | None, expected: str):
    assert compact(value, 2) == expected


def test_names_may_break_after_underscores_and_are_escaped():
    assert breakable("partial_spearman") == "partial_<wbr>spearman"
    assert breakable("<b>_x") == "&lt;b&gt;_<wbr>x"
