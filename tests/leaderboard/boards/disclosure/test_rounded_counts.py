"""Numbers of units by kind, of a slice: they do not tell how many units the slice has, such as those with one label."""

from __future__ import annotations

import pytest

from leaderboard.boards.disclosure.policies import reveal_counts, reveal_p, reveal_plots
from leaderboard.boards.queries.slices import raw_slice_key
from leaderboard.models import Phase, Split

SLICE = {"label": "SUPPORTS"}


@pytest.fixture
def phase() -> Phase:
    return Phase(disclosure="full", split=Split(gold_public=False))


@pytest.mark.parametrize("n", [236, 238, 240, 244])
def test_counts_on_a_slice_are_shares_of_its_rounded_number(phase: Phase, n: int) -> None:
    counts = {"both": n // 2, "neither": n - n // 2}
    assert sum(reveal_counts(phase=phase, counts=counts, n_groups=100).values()) == n, "all units are known"
    assert sum(reveal_counts(phase=phase, counts=counts, n_groups=100, is_slice=True).values()) == 240


@pytest.mark.parametrize("n", [236, 238, 240, 244])
def test_counts_of_a_plot_on_a_slice_are_shares_of_its_rounded_number(phase: Phase, n: int) -> None:
    grid = {"slice": SLICE, "columns": [{"start": 0, "end": 1, "counts": [n // 2, n - n // 2]}]}
    score = {"measure": "spearman", "slice": {}, "low": 0.1}
    shown = reveal_plots(
        phase,
        {"grids": [grid]},
        scores=[score, {**score, "slice": SLICE}],
        primary="spearman",
        groups=lambda: {"": 200, raw_slice_key(SLICE): 100},
    )
    assert sum(shown["grids"][0]["columns"][0]["counts"]) == 240


def test_systems_that_are_shown_as_equal_have_no_p_value(phase: Phase) -> None:
    assert reveal_p(phase, 0.81, difference=0.02) == 0.9
    assert reveal_p(phase, 0.81, difference=0.0) is None
    phase.exact_scores = True
    assert reveal_p(phase, 0.81, difference=0.0) == 0.81
