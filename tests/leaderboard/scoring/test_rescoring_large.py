"""A correction on a phase with two hundred runs: followed, interrupted by SIGKILL, and switched as a whole."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client

from leaderboard.boards.queries.prepared_board import progress_of
from leaderboard.datasets.actions import corrections, gold_diffs
from leaderboard.models import Prediction, RankChange, Run, State
from leaderboard.scoring.actions import runs
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.corrected_gold import CORRECTED, assert_switched_once, states
from tests.support.rows.tiny_world import LABELS, World, build, gold_lines, prediction_lines, uploaded
from tests.support.workers.killed_workers import let_leases_end
from tests.support.workers.running_stack import Stack, empty_queue

pytest_plugins = ["tests.support.workers.running_stack"]
# test_rescoring_faults kills workers at each point, with fewer runs.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
N = 200
OLD, NEW = "by the first gold", "by its correction"
BOARD = "/api/v1/benchmarks/tiny/phases/test/leaderboard.json"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """Two hundred systems on a board; half are right by the first gold, half by its correction."""
    world = build(quota_per_day=N, quota_total=N)
    for index in range(N):
        is_old = index % 2 == 0
        release = stand(world, f"{OLD if is_old else NEW} {index}", symmetric_scores(1.0 if is_old else 0.0))
        _answer(release.run.prediction, LABELS if is_old else CORRECTED)
    empty_queue()
    return world


def _answer(prediction: Prediction, labels: dict[str, str]) -> None:
    content = prediction_lines(labels)
    prediction.file.save("predictions.jsonl", ContentFile(content), save=False)
    prediction.sha256 = hashlib.sha256(content).hexdigest()
    prediction.save(update_fields=["file", "sha256"])


def read() -> tuple[int, set[str], set[str]]:
    """Returns (gold version, kinds of the first rows, kinds of the last rows) of one response of the API."""
    body = json.loads(Client().get(BOARD).content)
    assert len(body["rows"]) == N
    first, last = ({kind_of(row) for row in body["rows"] if row["rank"] == rank} for rank in (1, N // 2 + 1))
    return body["gold_version"], first, last


def kind_of(row: dict[str, Any]) -> str:
    return str(row["system"]).rpartition(" ")[0]


@contextmanager
def reading() -> Iterator[list[tuple[int, set[str], set[str]]]]:
    """Reads the board continuously over a separate connection."""
    readings: list[tuple[int, set[str], set[str]]] = []
    over = threading.Event()

    def go_on() -> None:
        try:
            while not over.is_set():
                readings.append(read())
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(go_on)
        try:
            yield readings
        finally:
            over.set()
            reader.result()


def until_half(stack: Stack) -> None:
    """Counts runs only: the page's progress takes so long to count that a fast worker could finish meanwhile."""
    deadline, pause = time.monotonic() + 240, threading.Event()
    rescored = Run.objects.filter(gold_version__number=2, state=State.DONE)
    while rescored.count() < N // 2:
        assert time.monotonic() < deadline, stack.said()
        pause.wait(0.02)


def follow(world: World, until: Callable[[int], bool], stack: Stack) -> int:
    """How many predictions are scored once that is so; the progress that the curator's page shows.

    The clock's sweeper goes on meanwhile: what the dead worker had taken off the queue and not begun is rung again only
    once nobody has come for it for a while.
    """
    deadline = time.monotonic() + 240
    pause = threading.Event()
    while True:
        runs.WORK.sweep()
        progress = progress_of(world.phase)
        done = N if progress is None else progress.done
        if until(done):
            return done
        assert time.monotonic() < deadline, f"{done} of {N}:\n{stack.said()}"
        pause.wait(0.5)


def test_a_rescoring_of_two_hundred_runs_with_a_killed_worker(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    before = json.loads(Client().get(BOARD).content)
    assert read() == (1, {OLD}, {NEW})
    file = uploaded(gold_lines(CORRECTED))
    correction = corrections.propose(split=world.split, file=file, by=world.curator)
    file.close()
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    start = time.monotonic()
    corrections.confirm(correction=correction, reason="labels were swapped", publishes_count=True, by=world.curator)
    queued = time.monotonic() - start
    with Stack().stopping() as stack, reading() as readings:
        doomed = stack.start_worker(concurrency=2)
        until_half(stack)
        doomed.kill()
        half = progress_of(world.phase)
        assert half is not None and half.done < N and states(world) == [(1, 1, "current"), (2, 1, "preparing")]
        killed = time.monotonic() - start
        let_leases_end()
        runs.WORK.sweep()
        stack.start_worker(concurrency=2)
        follow(world, lambda done: done == N, stack)
        # Read again after the switch.
        reads = len(readings)
        follow(world, lambda _: len(readings) > reads + 1, stack)
        took = time.monotonic() - start
    assert_switched_once(world, 2)
    assert states(world) == [(1, 1, "frozen"), (2, 1, "current")]
    # Each response was one of the two boards: first the old one, then the new one.
    assert {(number, *first, *last) for number, first, last in readings} == {(1, OLD, NEW), (2, NEW, OLD)}
    assert [number for number, _, _ in readings] == sorted(number for number, _, _ in readings)
    frozen = json.loads(Client().get(f"{BOARD}?gold_version=1&task_version=1").content)
    assert frozen["rows"] == before["rows"], "the old board stays as it was"
    assert Client().get("/benchmarks/tiny/test/gold-1/task-1/").status_code == 200
    moved = RankChange.objects.filter(leaderboard__gold_version__number=2)
    assert moved.count() == N and not moved.filter(rank=None).exists()
    assert Run.objects.filter(state=State.DONE, gold_version__number=2).count() == N
    with capsys.disabled():
        print(
            f"\n{N} runs scored again in {took:.1f} s: queued in {queued:.1f} s, a worker killed after {killed:.1f} s "
            f"at {half.done}; the board was read {len(readings)} times meanwhile"
        )
