"""Holm's correction, the pairs of a board that are compared, and rank ranges."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.scoring.compare_pairs import MAX_PERMUTATIONS
from evaluator.statistics.holm import ALPHA, holm
from evaluator.statistics.rank_ranges import MAX_PAIRS, compared_pairs, n_neighbours, rank_ranges


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


def pairs_of(n):
    return list(zip(*(positions.tolist() for positions in compared_pairs(n)), strict=True))


def ranges(values, significant):
    """Return the ranges if exactly these pairs of positions are significant."""
    p_values = np.array([0.01 if pair in significant else 1.0 for pair in pairs_of(len(values))])
    low, high = rank_ranges(np.array(values), p_values)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def test_ranges_by_hand():
    values = [0.9, 0.8, 0.75, 0.4]
    assert ranges(values, {(0, 3), (1, 3), (2, 3)}) == [(1, 3), (1, 3), (1, 3), (4, 4)]
    assert ranges(values, {(0, 1), (0, 2), (0, 3)}) == [(1, 1), (2, 4), (2, 4), (2, 4)]
    assert ranges([0.9, 0.9, 0.4, 0.4], {(0, 1), (0, 2), (2, 3)}) == [(1, 3), (1, 4), (2, 4), (1, 4)], "ties"
    low, high = rank_ranges(np.array(values), np.full(6, np.nan))
    assert (low.tolist(), high.tolist()) == ([1] * 4, [4] * 4)
    assert ranges([], set()) == [] and ranges([0.5], set()) == [(1, 1)]


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 5), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n * n, max_size=n * n)
        )
    )
)
def test_a_rank_range_contains_the_rank(case):
    values, differs = sorted(case[0], reverse=True), case[1]
    n = len(values)
    significant = {(i, j) for i, j in combinations(range(n), 2) if differs[i * n + j]}
    for value, (low, high) in zip(values, ranges(values, significant), strict=True):
        rank = 1 + sum(other > value for other in values)
        assert 1 <= low <= rank <= high <= n


def test_all_pairs_are_compared_while_the_smallest_p_value_is_significant():
    for n in (0, 1, 2, 3, 50, 141):
        assert pairs_of(n) == list(combinations(range(n), 2))
    assert MAX_PAIRS / (MAX_PERMUTATIONS + 1) <= ALPHA < (MAX_PAIRS + 11) / (MAX_PERMUTATIONS + 1)
    assert (n_neighbours(141), n_neighbours(142), n_neighbours(1000), n_neighbours(6000)) == (140, 135, 9, 0)


@given(st.integers(142, 12_000))
def test_on_a_large_board_neighbours_and_the_leader_are_compared(n):
    k = n_neighbours(n)
    pairs = pairs_of(n)
    assert len(pairs) == len(set(pairs)) <= MAX_PAIRS
    expected = {(i, j) for i in range(n) for j in range(i + 1, min(i + k, n - 1) + 1)}
    expected |= {(0, j) for j in range(1, min(n, MAX_PAIRS + 1))}
    assert set(pairs) == expected and pairs == sorted(pairs)
    assert len(pairs) + n - k - 2 > MAX_PAIRS, "one neighbour more would be too many"


def test_a_difference_from_the_leader_alone_shows_only_that_a_system_is_not_the_best():
    n = 1000
    k = n_neighbours(n)
    values = np.linspace(1, 0, n).tolist()
    first = ranges(values, {(0, k), (0, k + 1), (0, 500), (400, 405), (400, 406), (399, 405)})
    assert first[0] == (1, n - 1), "of the leader's, only the difference from its neighbour counts"
    assert first[k] == first[k + 1] == first[500] == (2, n)
    assert (first[399], first[400], first[405], first[406]) == ((1, n - 1), (1, n - 2), (3, n), (2, n))
    both = ranges(values, {(0, 405), (400, 405)})
    assert both[405] == (2, n), "the better neighbour may be the best system"
