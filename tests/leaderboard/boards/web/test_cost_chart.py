"""The picture of quality against cost: who is on the front, where points stand, and that labels do not meet."""

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
from tests.support.made_rows import row


def spent(name: str, value: float | None, seconds: float | None, **kind: str) -> Row:
    """A row with an accuracy and seconds."""
    return replace(row(name, {("accuracy", ()): ShownScore(value)}, **kind), cost=Cost(wall_seconds=seconds))


def chart(*rows: Row, up: bool = True) -> cost.CostChart:
    made = cost_chart(rows, measure="accuracy", kind="wall_seconds", higher_is_better=up)
    assert made is not None
    return made


def on_front(made: cost.CostChart) -> set[str]:
    return {mark.row.system for mark in made.marks if mark.on_front}


ROWS = (spent("slow", 0.9, 1448), spent("worse", 0.6, 1448), spent("quick", 0.7, 8), spent("beaten", 0.65, 16))


def test_the_front_is_whom_nobody_beats_at_both():
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
    made = chart(*ROWS, spent("no value", None, 4), spent("no cost", 0.5, None), row("neither", {}))
    assert len(made.marks) == len(ROWS)
    assert cost_chart([spent("no cost", 0.5, None)], measure="accuracy", kind="wall_seconds") is None


@pytest.mark.parametrize("costs", [[1.0], [1.0, 1.41], [5.66, 1450.0], [2.0**20, 1.0], [4.0, 4.0]])
def test_the_scale_holds_all_costs_and_few_ticks_that_are_powers_of_two(costs):
    scale = doublings(costs)
    assert all(0.0 < scale.share(value) < 1.0 for value in costs)
    assert 2 <= len(scale.ticks) <= cost.TICKS + 1
    for _, label in scale.ticks:
        assert math.log2(float(label.replace(",", ""))).is_integer()


def test_a_doubling_is_as_wide_anywhere():
    scale = doublings([1.0, 64.0])
    widths = {round(scale.share(2 * value) - scale.share(value), 9) for value in (1.0, 2.0, 16.0)}
    assert len(widths) == 1


def test_better_is_higher_on_the_page_and_an_interval_holds_its_point():
    cells = {("accuracy", ()): ShownScore(0.5, 0.4, 0.7)}
    made = chart(replace(row("a", cells), cost=Cost(wall_seconds=4)), spent("b", 0.9, 4))
    places = {mark.row.system: mark for mark in made.marks}
    assert places["b"].y < places["a"].y
    assert places["a"].high < places["a"].y < places["a"].low


def test_points_of_one_place_stand_side_by_side_and_their_labels_apart():
    made = chart(*(spent(f"s{i}", 0.5, 4) for i in range(6)), spent("far", 0.9, 4096))
    marks = [mark for mark in made.marks if mark.row.system != "far"]
    assert len({mark.shift for mark in marks}) == 6
    heights = sorted(mark.label_y for mark in marks)
    assert all(b - a >= cost.LINE for a, b in pairwise(heights))


def test_labels_are_cut_and_stand_on_the_side_that_has_room():
    made = chart(spent("x" * 200, 0.5, 4), spent("far", 0.9, 4096))
    near, far = made.marks
    assert len(near.label) == cost.LONGEST and near.label_x > 0 and far.label_x < 0


def test_the_fronts_line_goes_level_then_up_and_runs_on():
    lines = chart(*ROWS).front
    assert [(x1 == x2, y1 == y2) for x1, y1, x2, y2 in lines] == [(False, True), (True, False), (False, True)]
    assert lines[-1][2] == "100%"


def test_a_label_stands_beyond_the_points_beside_its_own_and_has_its_number():
    made = chart(*(spent(f"s{i}", 0.5, 4) for i in range(3)), spent("far", 0.9, 4096))
    beside = made.marks[:3]
    assert all(mark.label_x > max(other.shift for other in beside) for mark in beside)
    assert [mark.label for mark in beside] == ["1 s0", "2 s1", "3 s2"]


def test_labels_make_way_for_one_another():
    made = chart(spent("one", 0.52, 8), spent("two", 0.5, 9), spent("far", 0.9, 4096))
    one, two, _ = made.marks
    assert abs(one.label_y - two.label_y) >= cost.LINE


def test_a_label_makes_way_for_a_point_that_it_would_cover():
    alone = chart(spent("a system of a name", 0.5, 8), spent("far", 0.9, 4096)).marks[0]
    assert alone.label_y == alone.y
    crowded = chart(spent("a system of a name", 0.5, 8), spent("b", 0.499, 16), spent("far", 0.9, 4096)).marks[0]
    assert crowded.label_y - crowded.y >= cost.LINE


@pytest.mark.parametrize("seed", range(20))
def test_crowds_find_places(seed):
    drawn = random.Random(seed)
    made = chart(*(spent(f"s{i}", drawn.random(), 2 ** (drawn.randrange(12) / 2)) for i in range(40)))
    assert [mark.number for mark in made.marks] == list(range(1, 41))
    assert all(math.isfinite(mark.label_y) and mark.label_y >= mark.y for mark in made.marks)
