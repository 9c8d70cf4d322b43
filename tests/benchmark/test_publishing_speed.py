"""Cost of publishing a submission on a board of many systems, one by one and many at a time.

Run with `HOLDOUT_DATABASE_URL=postgres://... bin/test -m benchmark -s tests/benchmark/test_publishing_speed.py`;
without the variable it measures SQLite. It prints processor time of this process and time in the database, and asserts
only that the ranks are right.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from leaderboard.models import Run, Standing, State, Submission
from leaderboard.scoring.actions import releases
from tests.benchmark.big_board import BigBoard
from tests.support.rows.tiny_world import build

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SIZES = [int(size) for size in os.environ.get("BOARD_SIZES", "200,5000,50000").split(",")]
BATCHES = (1, 100)
SUBMISSIONS = 200


class DatabaseTime:
    """Seconds spent in statements of the database and in its commits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            self.seconds += time.perf_counter() - begin

    @contextmanager
    def measured(self):
        commit = connection._commit
        connection._commit = lambda: self(commit)
        try:
            with connection.execute_wrapper(self):
                yield self
        finally:
            connection._commit = commit


def test_publishing_cost_by_number_of_systems(capsys: pytest.CaptureFixture[str]) -> None:
    for size in SIZES:
        world = build()
        big = BigBoard(world, n_teams=size)
        big.grow(size)
        phase = world.phase.pk
        type(world.phase).objects.filter(pk=phase).update(ranked_sequence=size)
        for batch in BATCHES:
            runs = [scored(big, number) for number in range(SUBMISSIONS)]
            database, begin, cpu = DatabaseTime(), time.perf_counter(), time.process_time()
            with database.measured():
                for number, run in enumerate(runs, start=1):
                    with transaction.atomic():
                        described = {"primary": "accuracy", "warnings": [], "at": timezone.now()}
                        releases.publish(run=run, scores=list(big._values()), **described)
                    if number % batch == 0:
                        releases.update_boards(phase)
            spent = [1000 * seconds / SUBMISSIONS for seconds in (time.process_time() - cpu, database.seconds)]
            wall = time.perf_counter() - begin
            with capsys.disabled():
                print(
                    f"\n{connection.vendor}, {size:,} systems, ranked after each {batch}: {spent[0]:.1f} ms of Python, "
                    f"{spent[1]:.1f} ms of database a submission; {SUBMISSIONS / wall:.0f} a second",
                    end="",
                )
            check_ranks()
        empty()


def scored(big: BigBoard, number: int) -> Run:
    """Return a run without a release, of a system drawn at random."""
    world, at = big.world, timezone.now()
    done = {"state": State.DONE, "finished_at": at, "outcomes": "o", "outcomes_sha256": "0" * 64, "attempt": 1}
    run = world.insert_run(at=at, system=big.systems[0], **done)
    system = big.random.choice(big.systems)
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    return Run.objects.get(pk=run.pk)


def check_ranks() -> None:
    values = sorted((value for value in Standing.objects.values_list("value", flat=True)), reverse=True)
    first: dict[float, int] = {}
    for rank, value in enumerate(values, start=1):
        first.setdefault(value, rank)
    assert all(first[value] == rank for value, rank in Standing.objects.values_list("value", "rank"))


def empty() -> None:
    from django.core.management import call_command

    call_command("flush", interactive=False, verbosity=0)
