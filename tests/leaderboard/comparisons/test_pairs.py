"""How pairs are batched into jobs for the sandbox, and corrected as one family."""

from __future__ import annotations

from itertools import combinations
from random import Random
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.sandbox.process import protocol
from leaderboard.comparisons.actions import pairs
from leaderboard.comparisons.queries.rank_ranges import PairFamily, correct_and_rank
from leaderboard.evaluation import sandbox_client
from tests.support import all_pairs_ranking

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


def family_of(runs: list[UUID], rows: list[tuple[UUID, UUID, float | None, int]]) -> PairFamily:
    family = PairFamily(runs)
    family.add(rows)
    return family


def test_a_family_calculated_by_hand() -> None:
    rows = [(A, B, 0.5, 200), (C, A, 0.01, 20_000), (B, C, 0.02, 10_000), (A, D, 1e-9, 10)]
    family = family_of([A, B, C], rows)
    assert family.pairs(np.arange(3)) == [(A, B), (A, C), (B, C)]
    assert family.p_holm().tolist() == pytest.approx([0.5, 0.03, 0.04])
    result = correct_and_rank([0.9, 0.8, 0.2], family)
    assert (result.low.tolist(), result.high.tolist(), result.n_unresolved) == ([1, 1, 3], [2, 2, 3], 0)


def test_a_pair_at_the_smallest_p_that_is_not_significant_is_unresolved() -> None:
    family = family_of([A, B, C], [(A, B, 1 / 21, 20), (A, C, 1 / 21, 20), (B, C, None, 0)])
    result = correct_and_rank([0.9, 0.8, 0.2], family)
    assert np.isnan(family.p_holm()[2])
    assert result.n_unresolved == 2 and (result.low[0], result.high[0]) == (1, 3)


def test_a_family_knows_its_missing_pairs_and_is_not_corrected_without_them() -> None:
    family = family_of([C, A, B], [(A, C, 0.5, 200)])
    assert family.missing() == [(C, B), (A, B)]
    with pytest.raises(KeyError, match="1 comparisons are stored, expected one for each of 3 pairs"):
        correct_and_rank([0.9, 0.8, 0.7], family)


def test_no_system_and_one_system() -> None:
    assert correct_and_rank([], PairFamily([])).low.tolist() == []
    alone = correct_and_rank([0.3], PairFamily([A]))
    assert (alone.low.tolist(), alone.high.tolist()) == ([1], [1])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 40), st.integers(0, 2**32), st.booleans())
def test_small_boards_are_ranked_as_by_comparing_all_pairs(n: int, seed: int, higher_is_better: bool) -> None:
    random = Random(seed)
    values = {UUID(int=random.getrandbits(128)): random.randrange(20) / 20 for _ in range(n)}
    rows = [
        (*pairs.in_order(a, b), random.choice([None, 1 / 200_001, 1e-4, random.random(), 0.05 / n]), 200_000)
        for a, b in combinations(values, 2)
    ]
    random.shuffle(rows)
    expected = all_pairs_ranking.correct_and_rank(values=values, comparisons=rows, higher_is_better=higher_is_better)
    ranked = sorted(values, key=lambda run: (-values[run] if higher_is_better else values[run], run))
    family = family_of(ranked, rows)
    result = correct_and_rank([values[run] for run in ranked], family)
    assert dict(zip(ranked, zip(result.low, result.high, strict=True), strict=True)) == expected.ranges
    assert (len(family), result.n_unresolved) == (expected.n_pairs, expected.n_unresolved)
    for pair, p_holm in zip(family.pairs(np.arange(len(family))), family.p_holm().tolist(), strict=True):
        other = expected.p_holm[frozenset(pair)]
        assert p_holm == other or (np.isnan(p_holm) and other is None)
