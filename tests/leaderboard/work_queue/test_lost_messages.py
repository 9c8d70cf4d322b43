"""Rows are enqueued again if, and only if, their message does not wait in the broker any more."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from leaderboard import jobs
from leaderboard.celery import app
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.containers.actions import run_system
from leaderboard.datasets.actions import audits
from leaderboard.models import Leaderboard, Notice, Ranking, Run, SimilarityCheck, SplitAudit, State
from leaderboard.near_duplicates.actions import detect
from leaderboard.notifications.actions import deliver
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.work import LOST_AFTER, Work, not_enqueued
from tests.support.rows import container_rows
from tests.support.rows.tiny_world import World, build
from tests.support.workers.running_stack import empty_queue

pytestmark = [pytest.mark.django_db(transaction=True)]
A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def world(transactional_db: None) -> World:
    empty_queue()
    return build()


def queued(world: World, n: int, *, ago: timedelta = A_MINUTE) -> list[Run]:
    """Insert runs with a message each, the oldest first."""
    rows = [world.insert_run(enqueued_at=timezone.now() - ago) for _ in range(n)]
    for row in rows:
        runs.WORK.enqueue(row)
    return rows


def sweep() -> int:
    """Sweep each kind once, as `beat` does; return the number of rows enqueued."""
    kinds = [part for part in jobs.SWEEPS if isinstance(part, Work)]
    return sum(kind.sweep(kinds) for kind in kinds)


def receive(n: int, queue: str = "scoring") -> list[str]:
    """Take messages off a queue, as a worker that dies before it claims their rows; return the rows' keys."""
    keys = []
    with (
        app.connection_for_read() as broker,
        broker.SimpleQueue(app.amqp.queues[queue](broker.default_channel)) as simple,
    ):
        for _ in range(n):
            message = simple.get(timeout=10)
            message.ack()
            keys.append(message.payload[0][0])
    return keys


def test_messages_that_wait_are_counted(world: World) -> None:
    assert enqueue.n_waiting("scoring") == enqueue.n_waiting("a-queue-that-was-never-used") == 0
    queued(world, 3)
    assert (enqueue.n_waiting("scoring"), enqueue.n_waiting("systems")) == (3, 0)
    receive(1)
    assert enqueue.n_waiting("scoring") == 2


def test_no_second_message_for_rows_whose_message_waits(world: World) -> None:
    """A backlog of minutes, with rows of several kinds in one queue."""
    queued(world, 5)
    at = timezone.now() - A_MINUTE
    audit = SplitAudit.objects.create(gold=world.gold, queued_at=at, enqueued_at=at)
    audits.WORK.enqueue(audit)
    board = Leaderboard.objects.create(
        phase=world.phase, gold_version=world.gold, task_version=1, state=Leaderboard.State.CURRENT
    )
    rank_ranges.WORK.enqueue(Ranking.objects.create(leaderboard=board, changes=1, enqueued_at=at))
    assert [sweep() for _ in range(3)] == [0, 0, 0]
    assert enqueue.n_waiting("scoring") == 7


def test_only_rows_whose_message_was_lost_are_enqueued(world: World) -> None:
    rows = queued(world, 6)
    assert receive(2) == [str(row.pk) for row in rows[:2]]
    assert (sweep(), sweep()) == (2, 0)
    assert receive(6) == [str(row.pk) for row in (*rows[2:], *rows[:2])]


def test_a_wiped_broker_is_found_at_once_though_others_are_enqueued_since(world: World) -> None:
    lost = queued(world, 5)
    empty_queue()
    since = queued(world, 20, ago=timedelta(seconds=0))
    assert (sweep(), sweep()) == (5, 0)
    assert receive(25) == [str(row.pk) for row in (*since, *lost)]


def test_each_queue_counts_its_own_messages(world: World) -> None:
    """Systems with and without a GPU are rows of one kind in two queues."""
    predictions = [container_rows.insert(world, enqueued_at=timezone.now() - A_MINUTE) for _ in range(3)]
    for prediction in predictions:
        run_system.WORK.enqueue(prediction)
    queued(world, 1)
    receive(1, "systems")
    world.phase.gpus = 1
    world.phase.save()
    assert sweep() == 3 and enqueue.n_waiting("systems-gpu") == 3, "their messages wait in a queue that is not theirs"
    assert sweep() == 0 and enqueue.n_waiting("systems") == 2


def test_a_claimed_row_of_a_dead_host_is_enqueued_while_the_backlog_waits(world: World) -> None:
    rows = queued(world, 5)
    receive(1)
    assert runs.WORK.claim(rows[0].pk) is not None
    assert sweep() == 0
    Run.objects.filter(pk=rows[0].pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert (sweep(), sweep()) == (1, 0)
    assert receive(5)[-1] == str(rows[0].pk)


def test_messages_that_nobody_needs_hide_no_lost_one_for_ever(world: World) -> None:
    """Messages of rows that are done look like those of rows that wait, until they are received."""
    (lost,) = queued(world, 1)
    empty_queue()
    for _ in range(3):
        enqueue._send("leaderboard.jobs.score", str(lost.pk))
    assert sweep() == 0
    receive(3)
    assert sweep() == 1
    Run.objects.update(enqueued_at=timezone.now() - LOST_AFTER)
    assert (sweep(), sweep()) == (1, 0), "nothing is received any more"


def test_two_sweeps_at_the_same_time_send_one_message_a_row(world: World) -> None:
    """Two hosts have a beat each."""
    queued(world, 20)
    empty_queue()
    barrier = threading.Barrier(2)

    def host() -> int:
        try:
            barrier.wait()
            return sweep()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as hosts:
        enqueued = [host.result() for host in [hosts.submit(host) for _ in range(2)]]
    assert sum(enqueued) == enqueue.n_waiting("scoring") == 20


def test_work_that_is_not_urgent_has_a_message_too(world: World) -> None:
    """Whoever receives it scores a run first (`Work.take`), so that there are as many messages as rows."""
    scored = world.insert_run(state=State.DONE, finished_at=timezone.now(), outcomes="o", outcomes_sha256="0" * 64)
    at = {"queued_at": timezone.now(), "enqueued_at": not_enqueued(timezone.now())}
    SimilarityCheck.objects.create(prediction=scored.prediction, phase=world.phase, **at)
    queued(world, 1)
    assert [detect.WORK.sweep() for _ in range(2)] == [1, 0]
    assert (scored.prediction.similarity_check.state, enqueue.n_waiting("scoring")) == (State.QUEUED, 2)


def test_nothing_is_enqueued_while_the_broker_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(queue: str) -> int:
        raise enqueue.BrokerError("scoring: OperationalError")

    (row,) = queued(world, 1)
    empty_queue()
    with monkeypatch.context() as patched:
        patched.setattr(enqueue, "n_waiting", away)
        patched.setattr(enqueue, "_send", lambda *_: pytest.fail("each attempt would take seconds"))
        assert sweep() == 0
    assert "broker_unavailable" in caplog.text
    row.refresh_from_db()
    assert row.enqueued_at < timezone.now() - timedelta(seconds=50) and sweep() == 1


def test_a_broker_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    connect: Callable[..., Any] = app.connection_for_write
    monkeypatch.setattr(app, "connection_for_write", lambda: connect("redis://127.0.0.1:1/0"))
    with pytest.raises(enqueue.BrokerError, match="scoring"):
        enqueue.n_waiting("scoring")


def test_notices_whose_message_waits_are_not_enqueued_again(world: World) -> None:
    at = timezone.now() - A_MINUTE
    fields = {"user": world.researcher, "body": {}, "created_at": at}
    due = [at + timedelta(seconds=second) for second in range(4)]
    notices = [Notice.objects.create(subject=uuid.uuid4(), due_at=due_at, **fields) for due_at in due]
    deliver.sweep()
    deliver.sweep()
    assert receive(1, deliver.QUEUE) == [str(notices[0].pk)]
    Notice.objects.filter(pk=notices[0].pk).delete()
    assert enqueue.n_waiting(deliver.QUEUE) == 3
    empty_queue()
    deliver.sweep()
    assert receive(3, deliver.QUEUE) == [str(notice.pk) for notice in notices[1:]]
