"""How pairs are batched into jobs for the sandbox, and corrected as one family."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import combinations
from random import Random
from tempfile import TemporaryFile
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.jobs.compare import CompareBoardReport
from evaluator.outcomes.serialization import to_bytes
from evaluator.outcomes.table import Outcomes
from evaluator.sandbox.process import protocol
from evaluator.tasks.registry import TASKS
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
    batched = list(pairs.batches(requested, pairs.SMALL))
    assert sorted(pair for batch in batched for pair in batch) == sorted(requested)
    for batch in batched:
        assert 0 < len(batch) <= pairs.SMALL.pairs
        assert len({run for pair in batch for run in pair}) <= pairs.SMALL.runs
    assert batched == list(pairs.batches(sorted(requested, reverse=True), pairs.SMALL))


def test_a_new_system_takes_few_batches_and_so_does_a_whole_board() -> None:
    newcomer = {(UUID(int=7), UUID(int=100 + index)) for index in range(49)}
    assert len(list(pairs.batches(newcomer, pairs.SMALL))) == 4
    assert len(list(pairs.batches(all_pairs(50), pairs.SMALL))) <= 80
    large = pairs.JobSize(252, 252)
    assert len(list(pairs.batches({(UUID(int=0), UUID(int=number)) for number in range(1, 1001)}, large))) == 4


def test_a_batch_has_as_many_files_as_the_sandbox_takes() -> None:
    assert sandbox_client.MAX_FILES <= sandbox_client.MAX_TABLES == protocol.MOST_FILES


def test_a_job_is_large_only_if_its_pairs_are_fast_and_its_outcomes_small() -> None:
    measures = {measure.name: measure for measure in TASKS["fact-verification"].measures}
    assert pairs.job_size(measures["accuracy"], 500) == (252, 252)
    assert pairs.job_size(measures["accuracy"], 5_000) == (252, 100)
    assert pairs.job_size(measures["accuracy"], 10**6) == (252, pairs.SMALL.runs)
    ranking = {measure.name: measure for measure in TASKS["fact-checking"].measures}
    assert pairs.job_size(ranking["auroc"], 500) == pairs.SMALL


def test_the_sandbox_compares_as_many_runs_as_a_job_may_have(sandbox: str) -> None:
    random, groups = np.random.default_rng(0), np.arange(9, dtype=np.int32)
    n = sandbox_client.MAX_TABLES
    with ExitStack() as stack:
        files = []
        for correct in (random.random((n, 9)) < 0.5).astype(float):
            statistics = {"claim": np.ones(9), "correct": correct}
            files.append(stack.enter_context(TemporaryFile()))
            files[-1].write(to_bytes(Outcomes("fact-verification", 1, 9, tuple(range(9)), groups, statistics, {})))
            files[-1].seek(0)
        answer = sandbox_client.compare_board(
            dict(zip(map(str, range(n)), files, strict=True)), pairs=[(0, n - 1)], measure="accuracy", seed=1
        )
    assert [(row.a, row.b) for row in answer.read(CompareBoardReport).comparisons] == [(0, n - 1)]


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
