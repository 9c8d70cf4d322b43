"""The arithmetic of a ladder: grids from the worst value on, and what beats what."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.boards.disclosure import ladder


@dataclass(frozen=True)
class Measure:
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool | None = True


SHARE = Measure()
CORRELATION = Measure(low=-1.0)
ERROR = Measure(higher_is_better=False)
RATIO = Measure(high=math.inf)


@pytest.mark.parametrize(
    ("measure", "n_groups", "value", "shown"),
    [
        (SHARE, 100, 0.73, 0.7),
        (SHARE, 100, 0.7, 0.7),
        (SHARE, 100, 0.7 - 1e-13, 0.7),
        (SHARE, 100, 0.6999, 0.6),
        (SHARE, 100, 1.0, 1.0),
        (SHARE, 1, 0.99, 0.0),
        (SHARE, 4, 0.0, 0.0),
        (SHARE, 4000, 0.5, round(31 / math.sqrt(4000), 12)),
        (CORRELATION, 100, 0.35, 0.2),
        (CORRELATION, 100, -0.35, -0.4),
        (ERROR, 100, 0.27, 0.3),
        (RATIO, 100, 2.5, None),
        (SHARE, 0, 0.5, None),
        (SHARE, None, 0.5, None),
    ],
)
def test_values_are_shown_on_the_grid(
    measure: Measure, n_groups: int | None, value: float, shown: float | None
) -> None:
    assert ladder.shown(value, measure=measure, n_groups=n_groups) == shown


@given(st.floats(0, 1), st.integers(1, 10_000), st.sampled_from([SHARE, ERROR, CORRELATION]))
def test_what_is_shown_is_never_better_and_less_than_a_step_worse(
    value: float, n_groups: int, measure: Measure
) -> None:
    shown, step = ladder.shown(value, measure=measure, n_groups=n_groups), ladder.step(measure, n_groups)
    assert shown is not None and step is not None
    worse = shown - value if measure.higher_is_better is False else value - shown
    assert -1e-8 <= worse < step
    assert measure.low - 1e-9 <= shown <= measure.high + 1e-9
    assert ladder.shown(shown, measure=measure, n_groups=n_groups) == shown, "the grid holds what it shows"


@pytest.mark.parametrize(
    ("value", "best", "measure", "beats"),
    [
        (0.7, None, SHARE, True),
        (0.7, 0.6, SHARE, True),
        (0.7, 0.7, SHARE, False),
        (0.6, 0.7, SHARE, False),
        (0.6, 0.7, ERROR, True),
        (0.8, 0.7, ERROR, False),
        (None, None, SHARE, False),
        (None, 0.7, SHARE, False),
    ],
)
def test_beats(value: float | None, best: float | None, measure: Measure, beats: bool) -> None:
    assert ladder.beats(value, best, measure=measure) is beats


def test_the_step_in_words() -> None:
    assert (ladder.step_of_share(4000), ladder.step_of_share(1)) == ("0.0158", "1")
