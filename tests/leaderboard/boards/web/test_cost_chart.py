"""Chart of quality against cost: systems on the front, positions of points, and labels that do not overlap."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from leaderboard.boards.disclosure.costs import Cost
from leaderboard.boards.queries import Row, ShownScore
from leaderboard.boards.web.charts import cost
from leaderboard.boards.web.charts.cost import cost_chart, doublings, front
from tests.support.row_factory import row


def row_with_cost(name: str, value: float | None, seconds: float | None, **kind: str) -> Row:
    """A row with an accuracy and seconds."""
    return replace(row(name, {("accuracy", ()): ShownScore(value)}, **kind), cost=Cost(wall_seconds=seconds))


def chart(*rows: Row, up: bool = True) -> cost.CostChart:
    plotted = cost_chart(rows, measure="accuracy", kind="wall_seconds", higher_is_better=up)
    assert plotted is not None
    return plotted


def on_front(plotted: cost.CostChart) -> set[str]:
    return {mark.row.system for mark in plotted.marks if mark.on_front}


ROWS = (
    row_with_cost("slow", 0.9, 1448),
    row_with_cost("worse", 0.6, 1448),
    row_with_cost("quick", 0.7, 8),
    row_with_cost("beaten", 0.65, 16),
)


def test_the_front_has_the_systems_that_none_beats_at_both():
    assert on_front(chart(*ROWS)) == {"slow", "quick"}


def test_less_may_be_better():
    assert on_front(chart(*ROWS, up=False)) == {"worse", "quick", "beaten"}


def test_equal_points_share_the_front():
    assert front([(1, 0.5), (1, 0.5), (1, 0.4), (2, 0.5)]) == [True, True, False, False]


def test_marks_are_numbered_from_the_cheapest_and_the_best_of_equals():
    assert [(mark.number, mark.row.system) for mark in chart(*ROWS).marks] == [
        (1, "quick"),
        (2, "beaten"),
        (3, "slow"),
        (4, "worse"),
    ]


def test_rows_without_a_value_or_a_cost_are_left_out():
    plotted = chart(*ROWS, row_with_cost("no value", None, 4), row_with_cost("no cost", 0.5, None), row("neither", {}))
    assert len(plotted.marks) == len(ROWS)
    assert cost_chart([row_with_cost("no cost", 0.5, None)], measure="accuracy", kind="wall_seconds") is None


@pytest.mark.parametrize("costs", [[1.0], [1.0, 1.41], [5.66, 1450.0], [2.0**20, 1.0], [4.0, 4.0]])
def test_the_scale_covers_all_costs_with_few_ticks_at_powers_of_two(costs):
    scale = doublings(costs)
    assert all(0.0 < scale.share(value) < 1.0 for value in costs)
    assert 2 <= len(scale.ticks) <= cost.TICKS + 1
    for _, label in scale.ticks:
        assert math.log2(float(label.replace(",", ""))).is_integer()


def test_a_doubling_has_the_same_width_everywhere():
    scale = doublings([1.0, 64.0])
    widths = {round(scale.share(2 * value) - scale.share(value), 9) for value in (1.0, 2.0, 16.0)}
    assert len(widths) == 1


def test_better_is_higher_and_an_interval_contains_its_point():
    cells = {("accuracy", ()): ShownScore(0.5, 0.4, 0.7)}
    plotted = chart(replace(row("a", cells), cost=Cost(wall_seconds=4)), row_with_cost("b", 0.9, 4))
    by_name = {mark.row.system: mark for mark in plotted.marks}
    assert by_name["b"].y < by_name["a"].y
    assert by_name["a"].high < by_name["a"].y < by_name["a"].low


def test_points_at_one_position_are_side_by_side_with_separate_labels():
    plotted = chart(*(row_with_cost(f"s{i}", 0.5, 4) for i in range(6)), row_with_cost("far", 0.9, 4096))
    marks = [mark for mark in plotted.marks if mark.row.system != "far"]
    assert len({mark.shift for mark in marks}) == 6
    heights = sorted(mark.label_y for mark in marks)
    assert all(b - a >= cost.LINE for a, b in pairwise(heights))


def test_labels_are_truncated_and_on_the_side_with_room():
    plotted = chart(row_with_cost("x" * 200, 0.5, 4), row_with_cost("far", 0.9, 4096))
    first_mark, far_mark = plotted.marks
    assert len(first_mark.label) == cost.LONGEST and first_mark.label_x > 0 and far_mark.label_x < 0


def test_the_fronts_line_is_level_then_up_and_continues():
    lines = chart(*ROWS).front
    assert [(x1 == x2, y1 == y2) for x1, y1, x2, y2 in lines] == [(False, True), (True, False), (False, True)]
    assert lines[-1][2] == "100%"


def test_a_label_is_beyond_points_next_to_its_own_and_has_its_number():
    plotted = chart(*(row_with_cost(f"s{i}", 0.5, 4) for i in range(3)), row_with_cost("far", 0.9, 4096))
    neighbours = plotted.marks[:3]
    assert all(mark.label_x > max(other.shift for other in neighbours) for mark in neighbours)
    assert [mark.label for mark in neighbours] == ["1 s0", "2 s1", "3 s2"]


def test_labels_avoid_each_other():
    plotted = chart(row_with_cost("one", 0.52, 8), row_with_cost("two", 0.5, 9), row_with_cost("far", 0.9, 4096))
    first_mark, two, _ = plotted.marks
    assert abs(first_mark.label_y - two.label_y) >= cost.LINE


def test_a_label_avoids_a_point_that_it_would_cover():
    single = chart(row_with_cost("a system of a name", 0.5, 8), row_with_cost("far", 0.9, 4096)).marks[0]
    assert single.label_y == single.y
    crowded = chart(
        row_with_cost("a system of a name", 0.5, 8), row_with_cost("b", 0.499, 16), row_with_cost("far", 0.9, 4096)
    ).marks[0]
    assert crowded.label_y - crowded.y >= cost.LINE


@pytest.mark.parametrize("seed", range(20))
def test_labels_of_crowds_do_not_overlap(seed):
    rng = random.Random(seed)
    plotted = chart(*(row_with_cost(f"s{i}", rng.random(), 2 ** (rng.randrange(12) / 2)) for i in range(40)))
    assert [mark.number for mark in plotted.marks] == list(range(1, 41))
    assert all(math.isfinite(mark.label_y) and mark.label_y >= mark.y for mark in plotted.marks)
