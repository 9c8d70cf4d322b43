"""Cost of publishing on a board of many systems, one by one, many at a time and by several workers, and of reading it.

Run with `HOLDOUT_DATABASE_URL=postgres://... bin/test -m benchmark -s tests/benchmark/test_publishing_speed.py`;
without the variable it measures SQLite. It prints processor time of this process, elapsed time in the database, and on
PostgreSQL the processor time of the database. It asserts only that the ranks are right. test_rank_ranges_speed.py
measures pairs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client, override_settings
from django.utils import timezone

from leaderboard.core import row_locks
from leaderboard.models import Phase, Release, Run, Standing, State, Submission
from leaderboard.scoring.actions import releases, runs
from leaderboard.work_queue.lease import lease_end
from tests.benchmark.support.big_board import BigBoard
from tests.benchmark.support.measuring import database_cpu
from tests.support.rows.tiny_world import build
from tests.support.workers.running_stack import environment

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SIZES = [int(size) for size in os.environ.get("BOARD_SIZES", "200,5000,50000").split(",")]
BATCHES = (1, 100)
SUBMISSIONS = 200
WORKERS = (2, 4)
READS = 100
BOARD = "/api/v1/benchmarks/tiny/phases/test/leaderboard/"
SHARE = 150
"""Submissions that each worker publishes."""


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
        Phase.objects.update(ranked_sequence=size)
        for batch in BATCHES:
            todo = scored(big, SUBMISSIONS)
            database, begin, cpu = DatabaseTime(), time.perf_counter(), time.process_time()
            in_database = database_cpu()
            with database.measured():
                for number, run in enumerate(todo, start=1):
                    with transaction.atomic():
                        described = {"primary": "accuracy", "warnings": [], "at": timezone.now()}
                        phase = row_locks.lock_phase(run.prediction.submission.phase_id)
                        releases.publish(phase=phase, run=run, scores=list(big._values()), **described)
                    if number % batch == 0:
                        releases.update_boards(world.phase.pk)
            in_database = database_cpu() - in_database
            spent = [
                1000 * seconds / SUBMISSIONS for seconds in (time.process_time() - cpu, database.seconds, in_database)
            ]
            wall = time.perf_counter() - begin
            with capsys.disabled():
                print(
                    f"\n{connection.vendor}, {size:,} systems, ranked after each {batch}: {spent[0]:.1f} ms of Python, "
                    f"{spent[1]:.1f} ms of database ({spent[2]:.1f} of its processor) a submission; "
                    f"{SUBMISSIONS / wall:.0f} a second",
                    end="",
                )
            check_ranks()
        read_board(size, capsys)
        empty()


def read_board(size: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Print what rendering the first page of the board costs, for a client whose responses are not cached."""
    client = Client()
    client.cookies["messages"] = "none"
    with override_settings(ALLOWED_HOSTS=["*"]):
        for _warm_up in (True, False):
            in_database, cpu = database_cpu(), time.process_time()
            for _ in range(READS):
                response = client.get(BOARD)
                assert response.status_code == 200
            python, in_database = time.process_time() - cpu, database_cpu() - in_database
    assert len(response.json()["rows"]) == min(size, 150)
    with capsys.disabled():
        print(
            f"\n{connection.vendor}, {size:,} systems, JSON of {min(size, 150)} rows: {1000 * python / READS:.1f} ms "
            f"of Python, {1000 * in_database / READS:.1f} ms of the database's processor",
            end="",
        )


def test_throughput_of_several_workers(capsys: pytest.CaptureFixture[str]) -> None:
    """Processes publish runs into one phase, with all that follows scoring: lease, scores, outcomes file, release."""
    for size in SIZES:
        big = BigBoard(build(), n_teams=size)
        big.grow(size)
        Phase.objects.update(ranked_sequence=size)
        for n in WORKERS:
            for run in scored(big, n * SHARE):
                leased = {"state": State.RUNNING, "finished_at": None, "lease_until": lease_end()}
                Run.objects.filter(pk=run.pk).update(**leased, outcomes="", outcomes_sha256="")
            workers = [_start_worker(index, n) for index in range(n)]
            for worker in workers:
                assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
            begin, in_database = time.perf_counter(), database_cpu()
            for worker in workers:
                assert worker.stdin is not None
                worker.stdin.write("\n")
                worker.stdin.close()
            # Each prints its processor time when it is done.
            python = sum(float(worker.stdout.readline()) for worker in workers if worker.stdout)
            wall, in_database = time.perf_counter() - begin, database_cpu() - in_database
            for worker in workers:
                worker.wait(60)
            assert Phase.objects.get().ranked_sequence == Release.objects.count()
            check_ranks()
            with capsys.disabled():
                costs = (1000 * seconds / (n * SHARE) for seconds in (python, in_database))
                print(
                    f"\n{connection.vendor}, {size:,} systems, {n} workers: {n * SHARE / wall:.0f} a second; "
                    "{:.1f} ms of Python, {:.1f} ms of the database's processor a submission".format(*costs),
                    end="",
                )
        empty()


def _start_worker(index: int, n: int) -> subprocess.Popen[str]:
    code = f"from tests.benchmark.test_publishing_speed import publish_share; publish_share({index}, {n})"
    ours = environment(DJANGO_SETTINGS_MODULE="leaderboard.settings")
    program = [sys.executable, "-c", f"import django; django.setup(); {code}"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(program, cwd=settings.ROOT, env=ours, **pipes)


def publish_share(index: int, n: int) -> None:
    """Publish each n-th of the running runs, as a worker does once the sandbox has scored them."""
    todo = list(runs.WAITING.filter(state=State.RUNNING).order_by("pk")[index::n])
    source = random.Random(index)
    print("ready", flush=True)
    sys.stdin.readline()
    cpu = time.process_time()
    for run in todo:
        measures = run.gold_version.measures
        scores = [_score(source, measure) for measure in measures]
        scores += [_score(source, "accuracy", origin=origin) for origin in ("original", "generated")]
        result = {"task": "fact-verification", "task_version": 1, "n_units": 4, "n_groups": 1, "scores": scores}
        report = {"result": {**result, "warnings": []}, "primary": "accuracy"}
        answer = runs.sandbox_client.Answer("", report, b"outcomes", 0.0, 0.0, {})
        runs.publish(runs.Lease(run, run.attempt), answer, msgspec.convert(report, runs.ScoreReport))
    print(time.process_time() - cpu, flush=True)


def _score(source: random.Random, measure: str, **slice_: str) -> dict[str, Any]:
    value = source.random()
    return {"measure": measure, "slice": slice_, "value": value, "low": value, "high": value, "n": 4}


def scored(big: BigBoard, n: int) -> list[Run]:
    """Return runs without a release, of systems drawn at random."""
    world, at = big.world, timezone.now()
    done = {"state": State.DONE, "finished_at": at, "outcomes": "o", "outcomes_sha256": "0" * 64, "attempt": 1}
    made = [world.insert_run(at=at, system=big.systems[0], **done) for _ in range(n)]
    for run in made:
        system = big.random.choice(big.systems)
        Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    # As a worker reads them.
    return list(runs.WAITING.filter(pk__in=[run.pk for run in made]))


def check_ranks() -> None:
    values = sorted((value for value in Standing.objects.values_list("value", flat=True)), reverse=True)
    first: dict[float, int] = {}
    for rank, value in enumerate(values, start=1):
        first.setdefault(value, rank)
    assert all(first[value] == rank for value, rank in Standing.objects.values_list("value", "rank"))


def empty() -> None:
    from django.core.management import call_command

    call_command("flush", interactive=False, verbosity=0)
