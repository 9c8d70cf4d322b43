"""Holm's correction and rank ranges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.statistics.holm import holm, rank_ranges


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []
    corrected = holm([0.02, math.nan, 0.01])
    assert corrected[0] == pytest.approx(0.02) and math.isnan(corrected[1]) and corrected[2] == pytest.approx(0.02)


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.2))
def test_holm_is_the_step_down_procedure(p_values, alpha):
    rejected = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] * (len(p_values) - step) > alpha:
            break
        rejected.add(index)
    assert {i for i, p in enumerate(holm(p_values)) if p <= alpha} == rejected


def matrix(n, pairs):
    p = np.ones((n, n))
    for i, j in pairs:
        p[i, j] = p[j, i] = 0.01
    return p


def test_ranges_by_hand():
    values = [0.9, 0.8, 0.75, 0.4]
    last_differs = matrix(4, [(i, 3) for i in range(3)])
    assert rank_ranges(values, last_differs) == [(1, 3), (1, 3), (1, 3), (4, 4)]
    first = matrix(4, [(0, 1), (0, 2), (0, 3)])
    assert rank_ranges(values, first) == [(1, 1), (2, 4), (2, 4), (2, 4)]
    assert rank_ranges(values, first, higher_is_better=False) == [(4, 4), (1, 3), (1, 3), (1, 3)]
    assert rank_ranges(values, np.full((4, 4), np.nan)) == [(1, 4)] * 4
    assert rank_ranges([], np.ones((0, 0))) == []


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 5), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n * n, max_size=n * n)
        )
    )
)
def test_a_rank_range_contains_the_rank(case):
    values, differs = case
    n = len(values)
    p = matrix(n, [(i, j) for i in range(n) for j in range(i) if differs[i * n + j]])
    for value, (first, last) in zip(values, rank_ranges(values, p), strict=True):
        rank = 1 + sum(other > value for other in values)
        assert 1 <= first <= rank <= last <= n
