"""A metric against people by rank: against plain counting, and that no text stands alone in a column."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from evaluator.outcomes.table import Outcomes
from evaluator.outcomes.weighted import View
from evaluator.plots.rank_histogram import bins_of, rank_grid

NUMBERS = st.lists(st.integers(0, 8), min_size=1, max_size=80)


def view_of(ratings: list[int], scores: list[int], groups: list[int] | None = None) -> View:
    codes = np.array(groups if groups is not None else range(len(ratings)), dtype=np.int32)
    columns = {"human": np.array(ratings, dtype=float), "score": np.array(scores, dtype=float)}
    names = tuple(range(int(codes.max()) + 1))
    return View.whole(Outcomes("metric-correlation", 1, len(ratings), names, codes, columns, {}))


@given(NUMBERS, st.integers(1, 10))
def test_parts_follow_average_ranks(numbers: list[int], n_parts: int) -> None:
    shares = (rankdata(numbers) - 0.5) / len(numbers)
    expected = np.floor(shares * n_parts + 1e-9).astype(int)
    assert bins_of(np.array(numbers, dtype=float), n_parts).tolist() == expected.tolist()


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 40)), min_size=1, max_size=120))
def test_columns_hold_every_text_once_and_none_a_few_groups(rows: list[tuple[int, int, int]]) -> None:
    ratings, scores, groups = ([row[i] for row in rows] for i in range(3))
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    codes = [places[group] for group in groups]
    found = rank_grid(view_of(ratings, scores, codes), rating="human", score="score")
    if found is None:
        return
    n_parts = len(found[0].counts)
    assert [one.start for one in found] == [0, *(one.end for one in found[:-1])] and found[-1].end == n_parts
    rows_of, columns_of = (bins_of(np.array(one, dtype=float), n_parts).tolist() for one in (ratings, scores))
    for column in found:
        inside = [i for i in range(len(rows)) if column.start <= columns_of[i] < column.end]
        assert list(column.counts) == [sum(rows_of[i] == part for i in inside) for part in range(n_parts)]
        assert len({codes[i] for i in inside}) >= isqrt(len(places))
    assert sum(sum(column.counts) for column in found) == len(rows)


def test_a_perfect_metric_is_the_diagonal() -> None:
    found = rank_grid(view_of(list(range(100)), [i * i for i in range(100)]), rating="human", score="score")
    assert found is not None
    assert [list(column.counts) for column in found] == [[10 * (i == j) for j in range(10)] for i in range(10)]


@pytest.mark.parametrize("place", [0, 57, 99])
def test_a_text_that_is_set_apart_gets_no_column_of_its_own(place: int) -> None:
    """All scores equal but one: its column would tell that text's rating."""
    scores = [0] * 100
    scores[place] = 1
    assert rank_grid(view_of(list(range(100)), scores), rating="human", score="score") is None
    apart = [int(i in range(place % 90, place % 90 + 10)) for i in range(100)]
    found = rank_grid(view_of(list(range(100)), apart), rating="human", score="score")
    assert found is not None and [sum(column.counts) for column in found] == [90, 10]


def test_few_texts_give_no_grid() -> None:
    assert rank_grid(view_of(list(range(8)), list(range(8))), rating="human", score="score") is None
    assert rank_grid(view_of(list(range(9)), list(range(9))), rating="human", score="score") is not None
    assert rank_grid(view_of(list(range(90)), list(range(90)), [0] * 90), rating="human", score="score") is None
