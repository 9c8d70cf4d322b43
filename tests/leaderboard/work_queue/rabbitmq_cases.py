"""Tests on a cluster of RabbitMQ nodes, which `test_rabbitmq.py` starts; TEST_RABBITMQ has their process groups.

A test that kills a node leaves the others to the next ones, so the order matters: three nodes, then two.
"""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import timedelta

import pytest
from amqp.exceptions import PreconditionFailed
from django.utils import timezone
from kombu import Queue, pools

from leaderboard.celery import app
from leaderboard.models import Run, State
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue
from tests.support.rows.tiny_world import World, build
from tests.support.workers.running_stack import PATIENCE, Stack

pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]
pytestmark = [pytest.mark.django_db(transaction=True)]
NODES = [pid for pid, _ in json.loads(os.environ.get("TEST_RABBITMQ", "[]"))]
QUEUES = ("scoring", "systems", "systems-gpu", "scorers", "notifications")


def delete_queues() -> None:
    with app.connection_for_write() as broker:
        for queue in QUEUES:
            Queue(queue, channel=broker.default_channel).delete()
    # A connection remembers which queues it has declared.
    pools.reset()
    app._pool = app.amqp._producer_pool = None


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    delete_queues()
    return build(quota_per_day=100)


def test_delete_all_queues() -> None:
    """A queue keeps its type, so a test with the other type begins without queues."""
    delete_queues()


def test_queues_are_of_the_configured_type(world: World) -> None:
    assert enqueue._send("leaderboard.jobs.score", "key") is None and enqueue.n_waiting("scoring") == 1
    with app.connection_for_write() as broker, pytest.raises(PreconditionFailed, match="x-queue-type"):
        Queue("scoring", channel=broker.default_channel).declare()


def test_a_queue_of_the_other_type(world: World, stack_later, caplog: pytest.LogCaptureFixture) -> None:
    """What an operator sees who has set HOLDOUT_QUEUE_TYPE and left the queues as they were, and the way out."""
    with app.connection_for_write() as broker:
        Queue("scoring", channel=broker.default_channel).declare()
    submission = world.submit()
    assert "queue_type_differs" in caplog.text
    stack: Stack = stack_later()
    (worker,) = stack.workers
    worker.process.wait()
    assert "inequivalent arg" in worker.log.read_text() and "x-queue-type" in worker.log.read_text()
    delete_queues()
    Run.objects.update(enqueued_at=timezone.now() - timedelta(minutes=1))
    assert runs.WORK.sweep() == 1
    stack.start_worker()
    assert stack.wait_for(submission).state == State.DONE


def test_nodes_that_hang_delay_a_request_by_seconds(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The row is written; the sweep sends its message later."""
    world.submit()
    for node in NODES:
        os.killpg(node, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        submission = world.submit()  # without timeouts this would hang
        first = time.monotonic() - begin
        assert "enqueue_failed" in caplog.text
        for _ in range(3):
            begin = time.monotonic()
            enqueue._send("leaderboard.jobs.score", "1")
            print(f"a first submission waited {first:.2f} s, a later message {time.monotonic() - begin:.3f} s")
        with pytest.raises(enqueue.BrokerError):
            enqueue.n_waiting("scoring")
    finally:
        for node in NODES:
            os.killpg(node, signal.SIGCONT)
    assert Run.objects.get(prediction__submission=submission).state == State.QUEUED


def counted() -> int:
    """Return the number of messages as soon as the queue has a leader again; before, RabbitMQ says that it has none."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return enqueue.n_waiting("scoring")
        except enqueue.BrokerError:
            assert time.monotonic() < deadline, "no node leads the queue"


def test_a_killed_node_loses_no_message(world: World, stack_later) -> None:
    """The queues are declared on the first node, which leads them."""
    before = [world.submit() for _ in range(10)]
    assert enqueue.n_waiting("scoring") == 10
    os.killpg(NODES[0], signal.SIGKILL)
    assert counted() == 10
    since = world.submit()
    assert counted() == 11
    stack: Stack = stack_later()
    assert {stack.wait_for(submission).state for submission in (*before, since)} == {State.DONE}
    assert set(Run.objects.values_list("attempt", flat=True)) == {1}
