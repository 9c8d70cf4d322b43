"""How pairs are batched into jobs for the sandbox, and corrected as one family."""

from __future__ import annotations

from itertools import combinations
from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.sandbox.process import protocol
from leaderboard.comparisons.actions import pairs
from leaderboard.comparisons.queries.rank_ranges import correct_and_rank
from leaderboard.evaluation import sandbox_client

A, B, C, D = (UUID(int=n) for n in range(1, 5))


def all_pairs(n: int) -> set[pairs.Pair]:
    return set(combinations([UUID(int=index) for index in range(n)], 2))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(2, 40), st.integers(0, 2**32), st.floats(0, 1))
def test_every_pair_is_in_one_batch_and_no_batch_is_too_large(n: int, seed: int, share: float) -> None:
    random = Random(seed)
    requested = {pair for pair in sorted(all_pairs(n)) if random.random() < share}
    batched = list(pairs.batches(requested))
    assert sorted(pair for batch in batched for pair in batch) == sorted(requested)
    for batch in batched:
        assert 0 < len(batch) <= pairs.AT_ONCE
        assert len({run for pair in batch for run in pair}) <= sandbox_client.MAX_FILES
    assert batched == list(pairs.batches(sorted(requested, reverse=True)))


def test_a_new_system_takes_few_batches_and_so_does_a_whole_board() -> None:
    newcomer = {(UUID(int=7), UUID(int=100 + index)) for index in range(49)}
    assert len(list(pairs.batches(newcomer))) == 4
    assert len(list(pairs.batches(all_pairs(50)))) <= 80


def test_a_batch_has_as_many_files_as_the_sandbox_takes() -> None:
    assert sandbox_client.MAX_FILES == protocol.MOST_FILES


def test_a_family_calculated_by_hand() -> None:
    values = {A: 0.9, B: 0.8, C: 0.2}
    rows = [(A, B, 0.5, 200), (C, A, 0.01, 20_000), (B, C, 0.02, 10_000), (A, D, 1e-9, 10)]
    result = correct_and_rank(values=values, comparisons=rows, higher_is_better=True)
    assert result.p_holm == {
        frozenset((A, B)): 0.5,
        frozenset((A, C)): pytest.approx(0.03),
        frozenset((B, C)): pytest.approx(0.04),
    }
    assert result.ranges == {A: (1, 2), B: (1, 2), C: (3, 3)}
    assert (result.n_pairs, result.n_unresolved) == (3, 0)
    turned = correct_and_rank(values=values, comparisons=rows, higher_is_better=False)
    assert turned.ranges == {A: (2, 3), B: (2, 3), C: (1, 1)}


def test_a_pair_at_the_smallest_p_that_is_not_significant_is_unresolved() -> None:
    rows = [(A, B, 1 / 21, 20), (A, C, 1 / 21, 20), (B, C, None, 0)]
    result = correct_and_rank(values={A: 0.9, B: 0.8, C: 0.2}, comparisons=rows, higher_is_better=True)
    assert result.p_holm[frozenset((B, C))] is None
    assert result.n_unresolved == 2 and result.ranges[A] == (1, 3)


def test_a_pair_that_was_not_compared_is_not_unresolved() -> None:
    with pytest.raises(KeyError):
        correct_and_rank(values={A: 0.9, B: 0.8}, comparisons=[], higher_is_better=True)


def test_no_system_and_one_system() -> None:
    assert correct_and_rank(values={}, comparisons=[], higher_is_better=True).ranges == {}
    assert correct_and_rank(values={A: 0.3}, comparisons=[], higher_is_better=True).ranges == {A: (1, 1)}
