"""A worker that dies between computing and storing comparisons, and the whole path with real workers."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.celery import app
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.models import Comparison, Ranking, Reason, Run, State
from tests.support.rows.tiny_world import World
from tests.support.rows.wide_phase import board_of, build_wide, enter, ranges, score_all
from tests.support.workers.running_stack import Stack, environment

pytest_plugins = ["tests.support.workers.running_stack"]
pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60
SHOWN = {"Best": (1, 1, 2), "Good": (2, 1, 2), "Half": (3, 3, 3)}


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    with app.connection_for_write() as broker:
        channel = broker.channel()
        app.amqp.queues["scoring"](channel).declare()
        app.amqp.queues["scoring"](channel).purge()
    world = build_wide()
    for name, wrong in (("Best", 0), ("Good", 1), ("Half", 25)):
        enter(world, name, wrong)
    return world


@pytest.fixture
def ranker(tmp_path: Path) -> Iterator[object]:
    """Starts the faulty worker; returns when it holds a lease."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        reached_file, log = tmp_path / "reached", tmp_path / "log"
        command = [sys.executable, "-m", "celery", "-A", "tests.support.workers.faulty_comparer"]
        command += ["worker", "--pool", "solo", "-Q", "scoring", "-l", "WARNING"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=settings.ROOT,
                env={**environment(), "HOLD_FILE": str(reached_file)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        started.append(process)
        waited = threading.Event()
        for _ in range(PATIENCE * 20):
            if reached_file.exists():
                return process
            assert process.poll() is None, log.read_text()
            waited.wait(0.05)
        pytest.fail("the worker never had comparisons:\n" + log.read_text())

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_a_worker_killed_between_computing_and_storing_is_replaced(world: World, ranker) -> None:
    score_all()
    worker = ranker()
    board = board_of(world)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert not Comparison.objects.exists()
    assert rank_ranges.WORK.sweep() == 0, "a lease that has not ended is not taken"
    assert rank_ranges.WORK.claim(board.pk) is None
    Ranking.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert rank_ranges.WORK.sweep() == 1, "taken back and enqueued"
    assert Ranking.objects.get().reason == Reason.LOST
    rank_ranges.WORK.run(board.pk)
    assert ranges(board) == SHOWN and Comparison.objects.count() == 3
    assert Ranking.objects.get().attempt == 2


def test_real_workers_score_and_rank_a_burst(world: World) -> None:
    """Two workers, eight submissions: in any order, one set of comparisons and ranges for all standing systems."""
    for index in range(5):
        enter(world, f"Burst {index}", 10 + index)
    with Stack().stopping() as stack:
        stack.start_worker(concurrency=2)
        stack.follow(lambda: Run.objects.filter(state=State.DONE).count() == 8, "the scoring")
        stack.follow(lambda: not Ranking.objects.get().is_due, "the ranking")
    board = board_of(world)
    assert Comparison.objects.count() == 28
    rank_ranges = ranges(board)
    assert rank_ranges["Best"] == (1, 1, 2) and rank_ranges["Half"] == (8, 8, 8)
    assert all(low is not None and high is not None and low <= rank <= high for rank, low, high in rank_ranges.values())
