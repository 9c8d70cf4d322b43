"""Positions of curves, circles and bars in their charts."""

from __future__ import annotations

import pytest

from leaderboard.boards.queries import NO_SCORE, WHOLE
from leaderboard.boards.queries.plots import Column, Curve, Grid, Pairs, plot_of
from leaderboard.boards.queries.slices import parse_url_text, url_text
from leaderboard.boards.web.charts.contrast_pairs import pairs_chart
from leaderboard.boards.web.charts.rank_agreement import SIZE as SQUARE
from leaderboard.boards.web.charts.rank_agreement import squares
from leaderboard.boards.web.charts.roc import MOST, READ_AT, SIZE, roc_chart
from tests.support.row_factory import row


def test_a_curve_starts_in_its_corner_and_is_interpolated() -> None:
    curve = Curve([1, 2, 4, 4, 4])
    assert curve.points[:2] == [(0.0, 0.0), (0.0, 0.25)] and curve.points[-1] == (1.0, 1.0)
    assert [curve.at(x) for x in (0.0, 0.125, 0.25, 0.5, 1.0)] == [0.25, 0.375, 0.5, 1.0, 1.0]
    assert Curve([0, 1, 4, 4, 4]).points[0] == (0.0, 0.0) and len(Curve([0, 1, 4, 4, 4]).points) == 5


def test_curves_are_monotonic_and_limited_to_the_number_of_colours() -> None:
    chart = roc_chart([(row(f"S{i}", {}), NO_SCORE, Curve([0, 2, 3, 4, 4])) for i in range(MOST + 3)])
    assert chart is not None and [line.number for line in chart.lines] == list(range(1, MOST + 1))
    positions = [tuple(map(float, point.split(","))) for point in chart.lines[0].path.split()]
    assert positions[0] == (0.0, SIZE) and positions[-1] == (SIZE, 0.0)
    assert [x for x, _ in positions] == sorted(x for x, _ in positions)
    assert len(chart.lines[0].read) == len(READ_AT)
    assert len({line.key_y for line in chart.lines}) == MOST
    assert roc_chart([]) is None


def test_circles_show_the_share_of_their_column_and_stay_in_their_cell() -> None:
    grid = Grid([Column(0, 1, [4, 0, 0, 0]), Column(1, 4, [2, 3, 3, 4])])
    (square_chart,) = squares([(row("S", {}), NO_SCORE, grid)])
    assert square_chart.heads == ["1", "2\N{EN DASH}4"] and square_chart.edges == [SQUARE / 4]
    first, *others = square_chart.dots
    assert (first.x, first.y, first.n, first.part) == (SQUARE / 8, SQUARE * 7 / 8, 4, 1), (
        "the lowest human rating is at the bottom"
    )
    assert {dot.x for dot in others} == {SQUARE * 5 / 8}, "a wide column is drawn in its middle"
    assert (
        all(0 < dot.r <= SQUARE / 8 for dot in square_chart.dots)
        and sum(dot.n for dot in square_chart.dots) == grid.n == 16
    )
    radius = {dot.n: dot.r for dot in others}
    assert radius[4] > radius[3] > radius[2]
    assert square_chart.table[0] == (4, [0, 4]) and square_chart.table[-1] == (1, [4, 2])


def test_bars_are_complete_and_segments_are_adjacent() -> None:
    counts = [(row("A", {}), Pairs(1, 2, 0, 1)), (row("B", {}), Pairs(0, 0, 0, 0)), (row("C", {}), Pairs(3, 0, 0, 0))]
    chart = pairs_chart(counts, are_whole=True)
    assert chart is not None and [bar.row.system for bar in chart.bars] == ["A", "C"]
    segments = chart.bars[0].pieces
    assert [(segment.kind, segment.x, segment.width) for segment in segments] == [
        ("both", "0.00%", "25.00%"),
        ("drop", "25.00%", "50.00%"),
        ("flip", "75.00%", "0.00%"),
        ("neither", "75.00%", "25.00%"),
    ]
    assert 0 < chart.bars[0].top < chart.bars[1].top < chart.height and chart.floor == "33.33%"
    assert pairs_chart(counts[1:2]) is None


@pytest.mark.parametrize("slice_", [WHOLE, (("kind", 'a "b"'),), (("é", "0.2"),)])
def test_a_slice_key_is_parsed_as_it_was_written(slice_: tuple[tuple[str, str], ...]) -> None:
    assert parse_url_text(url_text(slice_)) == slice_


def test_stored_plot_data_have_slices_as_boards_show_them() -> None:
    plot = plot_of({"curves": [{"slice": {"kind": 0.5}, "heights": [0, 1, 2, 3, 4]}]})
    assert [*plot.curves] == [(("kind", "0.5"),)] and plot.grids == {} and plot.pairs is None
