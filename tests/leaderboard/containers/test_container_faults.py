"""Whatever process dies while a container is in progress, there is one result, one charge, and nothing left in the
engine.

The workers are real Celery processes with a real engine; they are killed with -9.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from leaderboard.containers.actions import run_system, workers
from leaderboard.models import Prediction, Stage, State
from leaderboard.operations import processes
from tests.support import container_images
from tests.support.image_fixtures import WAITS_AT, assert_one_result, needs_engine, submit, work
from tests.support.rows.tiny_world import World
from tests.support.workers.killed_workers import let_leases_end

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
