"""A correction on a phase with two hundred runs: followed, interrupted by kill -9, and switched as one."""

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
from tests.support.board_rows import stand, symmetric_scores
from tests.support.corrected_gold import CORRECTED, assert_switched_once, states
from tests.support.tiny_world import LABELS, World, build, gold_lines, prediction_lines, uploaded
from tests.support.workers.killed_workers import let_leases_end
from tests.support.workers.running_stack import Stack, empty_queue

pytest_plugins = ["tests.support.workers.running_stack"]
# test_rescoring_faults kills workers among fewer runs each time.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
N = 200
OLD, NEW = "by the first gold", "by its correction"
BOARD = "/api/v1/benchmarks/tiny/phases/test/leaderboard.json"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """Two hundred systems on a board, half of them right by the first gold, half by its correction."""
    world = build(quota_per_day=N, quota_total=N)
    for place in range(N):
        is_old = place % 2 == 0
        release = stand(world, f"{OLD if is_old else NEW} {place}", symmetric_scores(1.0 if is_old else 0.0))
        _answer(release.run.prediction, LABELS if is_old else CORRECTED)
    empty_queue()
    return world


def _answer(prediction: Prediction, labels: dict[str, str]) -> None:
    content = prediction_lines(labels)
    prediction.file.save("predictions.jsonl", ContentFile(content), save=False)
    prediction.sha256 = hashlib.sha256(content).hexdigest()
    prediction.save(update_fields=["file", "sha256"])


def read() -> tuple[int, set[str], set[str]]:
    """(the gold's number, what the first of the board are called, what the last are), of one answer of the API."""
    told = json.loads(Client().get(BOARD).content)
    assert len(told["rows"]) == N
    first, last = ({kind_of(row) for row in told["rows"] if row["rank"] == rank} for rank in (1, N // 2 + 1))
    return told["gold_version"], first, last


def kind_of(row: dict[str, Any]) -> str:
    return str(row["system"]).rpartition(" ")[0]


@contextmanager
def reading() -> Iterator[list[tuple[int, set[str], set[str]]]]:
    """Somebody reads the board all the time, over a connection of his own."""
    seen: list[tuple[int, set[str], set[str]]] = []
    over = threading.Event()

    def go_on() -> None:
        try:
            while not over.is_set():
                seen.append(read())
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(go_on)
        try:
            yield seen
        finally:
            over.set()
            reader.result()


def until_half(stack: Stack) -> None:
    """By the runs alone: what the page's progress counts takes so long that a quick worker could be done meanwhile."""
    deadline, pause = time.monotonic() + 240, threading.Event()
    again = Run.objects.filter(gold_version__number=2, state=State.DONE)
    while again.count() < N // 2:
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


def test_two_hundred_runs_with_a_worker_killed_half_way(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    before = json.loads(Client().get(BOARD).content)
    assert read() == (1, {OLD}, {NEW})
    file = uploaded(gold_lines(CORRECTED))
    found = corrections.propose(split=world.split, file=file, by=world.curator)
    file.close()
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    begun = time.monotonic()
    corrections.confirm(correction=found, reason="labels were swapped", publishes_count=True, by=world.curator)
    queued = time.monotonic() - begun
    with Stack().stopping() as stack, reading() as seen:
        doomed = stack.start_worker(concurrency=2)
        until_half(stack)
        doomed.kill()
        half = progress_of(world.phase)
        assert half is not None and half.done < N and states(world) == [(1, 1, "current"), (2, 1, "preparing")]
        killed = time.monotonic() - begun
        let_leases_end()
        runs.WORK.sweep()
        stack.start_worker(concurrency=2)
        follow(world, lambda done: done == N, stack)
        # Once more after the switch, whatever was read before it.
        reads = len(seen)
        follow(world, lambda _: len(seen) > reads + 1, stack)
        took = time.monotonic() - begun
    assert_switched_once(world, 2)
    assert states(world) == [(1, 1, "frozen"), (2, 1, "current")]
    # Each answer was one board or the other, first the one and then the other.
    assert {(number, *first, *last) for number, first, last in seen} == {(1, OLD, NEW), (2, NEW, OLD)}
    assert [number for number, _, _ in seen] == sorted(number for number, _, _ in seen)
    frozen = json.loads(Client().get(f"{BOARD}?gold_version=1&task_version=1").content)
    assert frozen["rows"] == before["rows"], "the old board stays as it was"
    assert Client().get("/benchmarks/tiny/test/gold-1/task-1/").status_code == 200
    moved = RankChange.objects.filter(leaderboard__gold_version__number=2)
    assert moved.count() == N and not moved.filter(rank=None).exists()
    assert Run.objects.filter(state=State.DONE, gold_version__number=2).count() == N
    with capsys.disabled():
        print(
            f"\n{N} runs scored again in {took:.1f} s: queued in {queued:.1f} s, a worker killed after {killed:.1f} s "
            f"at {half.done}; the board was read {len(seen)} times meanwhile"
        )
