"""Curves between their points, slices as text in addresses, and stored plot data."""

from __future__ import annotations

import pytest

from leaderboard.boards.queries import WHOLE
from leaderboard.boards.queries.plots import Curve, plot_of
from leaderboard.boards.queries.slices import parse_url_text, url_text


def test_a_curve_starts_in_its_corner_and_is_interpolated() -> None:
    curve = Curve([1, 2, 4, 4, 4])
    assert curve.points[:2] == [(0.0, 0.0), (0.0, 0.25)] and curve.points[-1] == (1.0, 1.0)
    assert [curve.at(x) for x in (0.0, 0.125, 0.25, 0.5, 1.0)] == [0.25, 0.375, 0.5, 1.0, 1.0]
    assert Curve([0, 1, 4, 4, 4]).points[0] == (0.0, 0.0) and len(Curve([0, 1, 4, 4, 4]).points) == 5


@pytest.mark.parametrize("slice_", [WHOLE, (("kind", 'a "b"'),), (("é", "0.2"),)])
def test_a_slice_key_is_parsed_as_it_was_written(slice_: tuple[tuple[str, str], ...]) -> None:
    assert parse_url_text(url_text(slice_)) == slice_


def test_stored_plot_data_have_slices_as_boards_show_them() -> None:
    plot = plot_of({"curves": [{"slice": {"kind": 0.5}, "heights": [0, 1, 2, 3, 4]}]})
    assert [*plot.curves] == [(("kind", "0.5"),)] and plot.grids == {} and plot.pairs is None
