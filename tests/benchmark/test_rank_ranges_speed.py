"""Cost of the rank ranges of a board of 1,000 systems and 500 units: printed, not asserted.

Run with `bin/test -m benchmark -s tests/benchmark/test_rank_ranges_speed.py`. Processor time is that of this process,
which plans, stores and corrects, and that of the sandbox, which compares.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from evaluator.outcomes.serialization import to_bytes
from evaluator.outcomes.table import Outcomes
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Comparison, Leaderboard, Ranking, Run, Standing
from tests.benchmark.support.big_board import BigBoard
from tests.benchmark.support.measuring import Timer
from tests.support.rows.tiny_world import build
from tests.support.simulated_outcomes import difficulty

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SYSTEMS = int(os.environ.get("BOARD_SYSTEMS", "1000"))
UNITS = 500


class Spent:
    """Counts the jobs that compare pairs and their processor seconds, and times the writing of ranges under a lock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reset()
        compare, write = sandbox_client.compare_board, rank_ranges._write_ranges

        def counted(files: Any, **question: Any) -> sandbox_client.Answer:
            answer = compare(files, **question)
            self.seconds, self.jobs = self.seconds + answer.cpu_seconds, self.jobs + 1
            return answer

        def timed(*arguments: Any) -> None:
            with self.locked:
                write(*arguments)

        monkeypatch.setattr(sandbox_client, "compare_board", counted)
        monkeypatch.setattr(rank_ranges, "_write_ranges", timed)

    def reset(self) -> None:
        self.seconds, self.jobs, self.locked = 0.0, 0, Timer()


@pytest.fixture
def board(sandbox: str) -> Leaderboard:
    """A board of one system more than SYSTEMS, whose accuracies are between 55 and 95 per cent."""
    big = BigBoard(build(), n_teams=SYSTEMS + 1)
    big.grow(SYSTEMS + 1)
    random = np.random.default_rng(1)
    base, groups = difficulty(UNITS, 0.75, random, 0.3), np.arange(UNITS, dtype=np.int32)
    standings, runs = list(big.board.standings.select_related("release__run")), []
    for standing, ahead in zip(standings, np.linspace(-0.2, 0.2, len(standings)), strict=True):
        correct = (random.random(UNITS) < np.clip(base + ahead, 0, 1)).astype(float)
        statistics = {"claim": np.ones(UNITS), "correct": correct}
        content = to_bytes(Outcomes("fact-verification", 1, UNITS, tuple(range(UNITS)), groups, statistics, {}))
        run = standing.release.run
        run.outcomes = run.outcomes.storage.save(f"{run.pk.hex}.outcomes", ContentFile(content))
        run.outcomes_sha256, standing.value = hashlib.sha256(content).hexdigest(), float(correct.mean())
        runs.append(run)
    Run.objects.bulk_update(runs, ["outcomes", "outcomes_sha256"], batch_size=500)
    Standing.objects.bulk_update(standings, ["value"], batch_size=500)
    return big.board


def ranked(board: Leaderboard, spent: Spent, title: str) -> None:
    """Rank the board after a change, compute its ranges, and print what that costs."""
    with transaction.atomic():
        rank_ranges.rank_again(board)
    spent.reset()
    before, turns = Comparison.objects.count(), 0
    with Timer() as timer:
        while Ranking.objects.get().is_due:
            rank_ranges.WORK.run(board.pk)
            turns += 1
            ranking = Ranking.objects.get()
            assert not ranking.failures, ranking.reason
    compared = Comparison.objects.count() - before
    numbers = Comparison.objects.values_list("difference", "low", "high", "p", "n_permutations")
    digest = hashlib.sha256(repr(sorted(numbers, key=repr)).encode()).hexdigest()[:12]
    print(
        f"\n{title}: {compared:,} of {ranking.n_pairs:,} pairs in {spent.jobs} jobs and {turns} turns; processor "
        f"{timer.processor:.1f} s here, {spent.seconds:.1f} s in the sandbox; {timer.wall:.0f} s, of which "
        f"{spent.locked.wall:.3f} s under the phase's lock; peak memory +{timer.memory:.0f} MB; narrowest ranges "
        f"{sorted((high - low, low, high) for low, high in board.standings.values_list('rank_low', 'rank_high'))[:3]}; "
        f"digest of all comparisons {digest}",
        end="",
    )


def test_a_board_from_nothing_and_one_system_more(board: Leaderboard, monkeypatch: pytest.MonkeyPatch) -> None:
    spent = Spent(monkeypatch)
    waiting = list(board.standings.order_by("-value"))[SYSTEMS // 3]
    Standing.objects.filter(pk=waiting.pk).delete()
    ranked(board, spent, f"{SYSTEMS:,} systems of {UNITS} units")
    waiting.save(force_insert=True)
    ranked(board, spent, "one system more")
    ranked(board, spent, "nothing more")
    worst = board.standings.order_by("value").first()
    worst.value = 1.0  # the value of its outcomes matters to no pair
    worst.save()
    ranked(board, spent, "another leader")


def test_a_board_whose_pairs_were_all_compared_before(board: Leaderboard, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an earlier version of the site."""
    random = np.random.default_rng(2)
    numbers = {"difference": 0.1, "low": 0.0, "high": 0.2, "n_groups": UNITS, "resamples": 1000, "seed": 0}
    runs = sorted(board.standings.values_list("release__run_id", flat=True))
    for a in range(len(runs) - 1):
        Comparison.objects.bulk_create(
            Comparison(
                leaderboard=board, a_id=runs[a], b_id=b, measure="accuracy", p=p, n_permutations=200_000, **numbers
            )
            for b, p in zip(runs[a + 1 :], random.choice([5e-6, 0.01, 0.3], len(runs) - 1 - a), strict=True)
        )
    ranked(board, Spent(monkeypatch), f"{Comparison.objects.count():,} comparisons stored")
