"""The scale of all charts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.core.web.scale import Scale, covering

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


def percent(position: str) -> float:
    assert position.endswith("%")
    return float(position[:-1])


@given(values)
def test_every_value_lies_between_the_first_and_the_last_tick(given_values: list[float]):
    scale = covering(given_values)
    rounding = 1e-6 * scale.step
    assert scale.low <= min(given_values) + rounding
    assert scale.high >= max(given_values) - rounding
    positions = [percent(position) for position, _ in scale.ticks]
    assert positions[0] == 0.0
    assert positions[-1] == pytest.approx(100.0, abs=0.01)
    assert positions == sorted(positions)
    assert 2 <= len(positions) <= 13


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_positions_keep_the_order_of_values(a: float, b: float):
    scale = Scale(-10, 10, 5)
    assert (percent(scale.at(a)) <= percent(scale.at(b))) or a > b


def test_ticks_are_round_numbers():
    assert [label for _, label in covering([0.3814, 0.9431]).ticks] == ["0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [label for _, label in Scale(-0.5, 0.5, 0.5).ticks] == ["\N{MINUS SIGN}0.5", "0.0", "0.5"]


def test_a_single_value_has_a_scale_around_it():
    scale = covering([0.7, 0.7])
    assert scale.low < 0.7 < scale.high


def test_a_value_outside_the_scale_is_at_the_edge():
    assert Scale(0, 1, 0.5).at(7.0) == "100.00%"
    assert Scale(0, 1, 0.5).at(-7.0) == "0.00%"
    assert Scale(0, 1, 0.5).span(0.25, 0.5) == "25.00%"


@given(values)
def test_labels_match_the_positions_of_their_ticks(given_values: list[float]):
    scale = covering(given_values)
    for index, (_, label) in enumerate(scale.ticks):
        labelled = float(label.replace("\N{MINUS SIGN}", "-"))
        assert labelled == pytest.approx(scale.low + index * scale.step, abs=1e-6 * scale.step)
