"""Rank grids of metric scores and human ratings: against plain counting; no column holds a single text."""

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
def test_bins_follow_average_ranks(numbers: list[int], n_bins: int) -> None:
    shares = (rankdata(numbers) - 0.5) / len(numbers)
    expected = np.floor(shares * n_bins + 1e-9).astype(int)
    assert bins_of(np.array(numbers, dtype=float), n_bins).tolist() == expected.tolist()


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 40)), min_size=1, max_size=120))
def test_each_text_is_in_one_column_and_no_column_has_few_groups(rows: list[tuple[int, int, int]]) -> None:
    ratings, scores, groups = ([row[i] for row in rows] for i in range(3))
    code_of = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    codes = [code_of[group] for group in groups]
    grid = rank_grid(view_of(ratings, scores, codes), rating="human", score="score")
    if grid is None:
        return
    n_bins = len(grid[0].counts)
    assert [column.start for column in grid] == [0, *(column.end for column in grid[:-1])] and grid[-1].end == n_bins
    rows_of, columns_of = (bins_of(np.array(values, dtype=float), n_bins).tolist() for values in (ratings, scores))
    for column in grid:
        inside = [i for i in range(len(rows)) if column.start <= columns_of[i] < column.end]
        assert list(column.counts) == [sum(rows_of[i] == part for i in inside) for part in range(n_bins)]
        assert len({codes[i] for i in inside}) >= isqrt(len(code_of))
    assert sum(sum(column.counts) for column in grid) == len(rows)


def test_a_perfect_metric_is_the_diagonal() -> None:
    grid = rank_grid(view_of(list(range(100)), [i * i for i in range(100)]), rating="human", score="score")
    assert grid is not None
    assert [list(column.counts) for column in grid] == [[10 * (i == j) for j in range(10)] for i in range(10)]


@pytest.mark.parametrize("index", [0, 57, 99])
def test_a_text_with_a_unique_score_gets_no_column_of_its_own(index: int) -> None:
    """All scores are equal but one: a column of its own would reveal that text's rating."""
    scores = [0] * 100
    scores[index] = 1
    assert rank_grid(view_of(list(range(100)), scores), rating="human", score="score") is None
    ten_differ = [int(i in range(index % 90, index % 90 + 10)) for i in range(100)]
    grid = rank_grid(view_of(list(range(100)), ten_differ), rating="human", score="score")
    assert grid is not None and [sum(column.counts) for column in grid] == [90, 10]


def test_few_texts_give_no_grid() -> None:
    assert rank_grid(view_of(list(range(8)), list(range(8))), rating="human", score="score") is None
    assert rank_grid(view_of(list(range(9)), list(range(9))), rating="human", score="score") is not None
    assert rank_grid(view_of(list(range(90)), list(range(90)), [0] * 90), rating="human", score="score") is None
