"""Arithmetic of a ladder: grids that start at the worst value, and when a value is an improvement."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.disclosure import ladder


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
    ("measure", "n_groups", "value", "expected"),
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
    measure: Measure, n_groups: int | None, value: float, expected: float | None
) -> None:
    assert ladder.shown(value, measure=measure, n_groups=n_groups) == expected


@given(st.floats(0, 1), st.integers(1, 10_000), st.sampled_from([SHARE, ERROR, CORRELATION]))
def test_a_shown_value_is_never_better_and_less_than_a_step_worse(
    value: float, n_groups: int, measure: Measure
) -> None:
    shown_value, step = ladder.shown(value, measure=measure, n_groups=n_groups), ladder.step(measure, n_groups)
    assert shown_value is not None and step is not None
    worse = shown_value - value if measure.higher_is_better is False else value - shown_value
    assert -1e-8 <= worse < step
    assert measure.low - 1e-9 <= shown_value <= measure.high + 1e-9
    assert ladder.shown(shown_value, measure=measure, n_groups=n_groups) == shown_value, (
        "the grid contains the shown value"
    )


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


def test_the_step_as_text() -> None:
    assert (ladder.format_unit_step(4000), ladder.format_unit_step(1)) == ("0.0158", "1")
