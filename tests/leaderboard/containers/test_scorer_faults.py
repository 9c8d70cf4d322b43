"""Whatever process dies while an organiser's scorer runs: one result, one charge, and no gold left in the engine.

The workers are real Celery processes with a real engine; they are killed with -9.
"""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as site
from django.utils import timezone

from leaderboard.containers.actions import run_scorer, workers
from leaderboard.models import QuotaCharge, Reason, Release, Run, Score, State
from leaderboard.operations import processes
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.lease import LeaseLostError
from tests.support import container_images, custom_scorers
from tests.support.rows.tiny_world import World, build
from tests.support.workers.killed_workers import let_leases_end
from tests.support.workers.running_stack import empty_queue

pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]
pytestmark = [
    pytest.mark.engine,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
SCORERS = {"module": "faulty_custom_scorer", "queue": "scorers"}
SHA256 = hashlib.sha256(b"an archive").hexdigest()
IN_THE_ENGINE = {"running": 6, "claimed": 0}
"""Scorer, volume holder and four volumes, until they are cleaned up."""


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    with custom_scorers.built() as image:
        yield image


@pytest.fixture
def world(
    transactional_db: None, sandbox: str, image: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Its phase is scored by an image; after the test the engine holds nothing of this site."""
    empty_queue()
    settings.SCORERS = True
    monkeypatch.setenv("HOLDOUT_SCORERS", "true")
    world = build()
    custom_scorers.scores_by(world, custom_scorers.row(world, digest=image))
    assert workers.report(queue=workers.SCORERS).ready
    yield world
    Run.objects.filter(state__in=(State.QUEUED, State.RUNNING)).update(
        state=State.FAILED, lease_until=None, finished_at=timezone.now()
    )
    workers.report(queue=workers.SCORERS)
    assert container_images.left(site.INSTANCE) == []


def finish(stack_later: Callable[[], Any], run: Run) -> None:
    """A real worker of the queue completes it."""
    stack = stack_later()
    stack.start_worker(command=processes.scorers())
    stack.wait_for_run(run)
    for worker in stack.workers:
        worker.stop()


def assert_one_result(attempt: int) -> Run:
    run = Run.objects.get()
    assert (run.state, run.attempt) == (State.DONE, attempt), (run.reason, run.detail)
    assert Score.objects.get(run=run, slice_key="").value == 1.0
    assert Release.objects.count() == 1
    assert QuotaCharge.objects.get().refunded_at is None
    stored = [name for name in run.outcomes.storage.listdir("")[1] if name.startswith(run.pk.hex)]
    assert stored == [run.outcomes.name]
    return run


# Points at which gold is in the engine; the others are slow.
BRIEF = {"running"}
KILLED_AT = ["claimed", "running", "between", "executed-twice", "stored-uncommitted"]
POINTS = [pytest.param(point, marks=() if point in BRIEF else pytest.mark.slow) for point in KILLED_AT]


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_each_point_is_replaced(
    world: World, faulty: Callable[..., Any], stack_later: Callable[[], Any], point: str
) -> None:
    world.submit()
    worker = faulty(point, **SCORERS)
    run = Run.objects.get()
    assert (run.state, run.attempt) == (State.RUNNING, 1)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert run_scorer.WORK.sweep() == 0, "a lease that has not ended is not taken"
    for queue in (workers.SYSTEMS, workers.SCORERS):
        # Both workers may share an engine: neither treats the other's execution as dead.
        workers.report(queue=queue)
        assert len(container_images.left(site.INSTANCE)) == IN_THE_ENGINE.get(point, 0)
    let_leases_end()
    assert run_scorer.WORK.sweep() == 1
    workers.report(queue=workers.SCORERS)
    assert container_images.left(site.INSTANCE) == [], "gold is reaped as soon as no claim refers to the execution"
    if point == "running":
        finish(stack_later, run)
    else:
        run_scorer.WORK.run(run.pk)
    assert_one_result(attempt=2)


@pytest.mark.slow
def test_a_worker_killed_after_the_commit_changes_nothing_more(
    world: World, faulty: Callable[..., Any], stack_later: Callable[[], Any]
) -> None:
    world.submit()
    worker = faulty("committed-unacknowledged", **SCORERS)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    before = assert_one_result(attempt=1)
    let_leases_end()
    for _ in range(10):
        enqueue._send("leaderboard.jobs.run_scorer", str(before.pk), "scorers")
    stack = stack_later()
    stack.start_worker(command=processes.scorers())
    stack.drain()
    run_scorer.WORK.run(before.pk)
    assert assert_one_result(attempt=1).finished_at == before.finished_at


def test_a_scorer_that_dies_each_time_fails_visibly(world: World) -> None:
    """Retried up to a limit; a late worker changes nothing."""
    world.submit()
    run = Run.objects.get()
    dead = []
    for attempt in range(1, site.MAX_ATTEMPTS + 1):
        dead.append(run_scorer.WORK.claim(run.pk))
        assert dead[-1] is not None and dead[-1].attempt == attempt
        Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        run_scorer.WORK.sweep()
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, Reason.LOST)
    assert QuotaCharge.objects.get().refunded_at is not None
    with pytest.raises(LeaseLostError):
        runs.reject(dead[0], reason=Reason.TIME, problems=[])
    assert not Release.objects.exists()


def test_an_engine_that_lost_the_image_loads_it_again(world: World, image: str) -> None:
    """The engine's disk is no store; here the stored archive is invalid, which is reported to the organisers."""
    scorer = world.phase.scorer
    type(scorer.image).objects.filter(pk=scorer.image_id).update(digest="sha256:" + "9" * 64, archive_sha256=SHA256)
    world.submit()
    run = Run.objects.get()
    run_scorer.WORK.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, Reason.SCORER)
    assert "The image cannot be used" in run.detail
