"""Whatever process dies while a container is in progress, there is one result, one charge, and nothing left in the
engine.

The workers are real Celery processes with a real engine; they are killed with -9.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from leaderboard.containers.actions import run_system, workers
from leaderboard.models import Prediction, Stage, State
from leaderboard.operations import processes
from leaderboard.work_queue import enqueue
from tests.support import container_images
from tests.support.image_fixtures import WAITS_AT, assert_one_result, needs_engine, submit, work
from tests.support.rows.tiny_world import World
from tests.support.workers.killed_workers import let_leases_end
from tests.support.workers.running_stack import empty_queue

pytest_plugins = [
    "tests.support.workers.running_stack",
    "tests.support.workers.killed_workers",
    "tests.support.image_fixtures",
]
pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True), needs_engine]

SYSTEMS = {"module": "faulty_system_worker", "queue": "systems"}
HELD_BY_ENGINE = {"running"}
STAGES = {
    "claimed": "",
    "reading": Stage.READING,
    "loading": Stage.LOADING,
    "running": Stage.RUNNING,
    "ended": Stage.RUNNING,
    "collecting": Stage.COLLECTING,
    "stored-uncommitted": Stage.COLLECTING,
}


def finish(stack_later: Callable[[], object], prediction: Prediction) -> None:
    """Real workers of both queues complete it."""
    stack = stack_later()
    stack.start_worker(command=processes.systems())
    stack.follow(lambda: Prediction.objects.get(pk=prediction.pk).is_over, "the prediction")
    stack.wait_for(prediction.submission)
    for worker in stack.workers:
        worker.stop()


# While a container runs, and after its file is stored but before the commit; the other stages are slow.
BRIEF = {"running", "stored-uncommitted"}
POINTS = [pytest.param(point, marks=() if point in BRIEF else pytest.mark.slow) for point in STAGES]


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_each_stage_is_replaced(
    world: World, patient: Path, faulty: Callable[..., object], stack_later: Callable[[], object], point: str
) -> None:
    world.phase.limits = {"wall_seconds": WAITS_AT if point == "running" else 300}
    world.phase.save()
    submission = submit(world, patient)
    worker = faulty(point, **SYSTEMS)
    prediction = submission.predictions.get()
    assert (prediction.state, prediction.attempt, prediction.stage) == (State.RUNNING, 1, STAGES[point])
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert run_system.WORK.sweep() == 0, "a lease that has not ended is not taken"
    workers.report()
    # System, volume holder and two volumes; the worker may still be alive.
    assert len(container_images.left(settings.INSTANCE)) == (4 if point in HELD_BY_ENGINE else 0)
    let_leases_end()
    assert run_system.WORK.sweep() == 1
    workers.report()
    assert container_images.left(settings.INSTANCE) == [], "reaped as soon as no claim refers to the execution"
    world.phase.limits = {"wall_seconds": 300}
    world.phase.save()
    if point in HELD_BY_ENGINE:
        finish(stack_later, prediction)
    else:
        work()
    assert assert_one_result(submission).attempt == 2


def test_a_worker_killed_after_collecting_changes_nothing_more(
    world: World, right: Path, faulty: Callable[..., object], stack_later: Callable[[], object]
) -> None:
    submission = submit(world, right)
    worker = faulty("committed-unacknowledged", **SYSTEMS)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    before = submission.predictions.get()
    assert (before.state, before.attempt) == (State.DONE, 1)
    let_leases_end()
    enqueue._send("leaderboard.jobs.predict", str(before.pk), "systems")
    finish(stack_later, before)
    assert assert_one_result(submission).finished_at == before.finished_at


def test_the_same_message_delivered_ten_times(world: World, right: Path, stack_later: Callable[[], object]) -> None:
    submission = submit(world, right)
    prediction = submission.predictions.get()
    for _ in range(10):
        enqueue._send("leaderboard.jobs.predict", str(prediction.pk), "systems")
    last = submit(world, right)
    finish(stack_later, last.predictions.get())
    assert assert_one_result(submission).attempt == 1
    assert assert_one_result(last).attempt == 1


def test_a_wiped_queue_is_enqueued_again(world: World, right: Path, stack_later: Callable[[], object]) -> None:
    submission = submit(world, right)
    empty_queue()
    assert run_system.WORK.sweep() == 0, "a row enqueued just now is not enqueued again"
    Prediction.objects.update(enqueued_at=timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS + 1))
    assert run_system.WORK.sweep() == 1
    finish(stack_later, submission.predictions.get())
    assert_one_result(submission)


def test_two_workers_on_one_prediction(world: World, right: Path) -> None:
    """Threads with their own connections claim it at the same moment; one gets it, and one container runs."""
    submission = submit(world, right)
    key = submission.predictions.get().pk
    together, claims = threading.Barrier(6), list[object]()

    def worker() -> None:
        try:
            together.wait()
            claims.append(run_system.WORK.claim(key))
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [claim for claim in claims if claim is not None]
    run_system._predict(won)
    work()
    assert assert_one_result(submission).attempt == 1
