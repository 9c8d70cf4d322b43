"""A worker that is not ready takes no message, and gives back what it has received, whatever it lacks."""

from __future__ import annotations

import socket
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from celery.exceptions import Reject
from django.db import OperationalError
from django.utils import timezone

from leaderboard import jobs
from leaderboard.core import db_clock, disk
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Leaderboard, Reason, State, WorkerReport
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue, gate, work
from tests.support.rows.tiny_world import build
from tests.support.workers.running_stack import Stack, empty_queue

pytest_plugins = ["tests.support.workers.running_stack"]


@pytest.mark.django_db(transaction=True)
def test_a_host_without_a_sandbox_leaves_its_messages_to_others(
    transactional_db: None, sandbox: str, tmp_path: Path
) -> None:
    empty_queue()
    world = build()
    socket = tmp_path / "sandbox.sock"
    with Stack().stopping() as stack:
        broken = stack.start_worker(concurrency=2, HOLDOUT_SANDBOX_SOCKET=str(socket))
        stack.follow(lambda: WorkerReport.objects.filter(queue="scoring", ready=False).exists(), "its first report")
        submissions = [world.submit() for _ in range(3)]
        good = stack.start_worker()
        for submission in submissions:
            assert stack.wait_for(submission).state == State.DONE
        said = broken.log.read_text()
        assert "worker_waits" in said and "reason='sandbox_unavailable'" in said
        assert "kind='score'" not in said, "it took a message"
        good.kill()
        # It works as soon as its sandbox does.
        last = world.submit()
        socket.symlink_to(sandbox)
        assert stack.wait_for(last).state == State.DONE
        assert WorkerReport.objects.get(queue="scoring").ready


REASONS: dict[str, tuple[Any, str, Any]] = {
    "store_unavailable": (work, "store_responds", lambda: False),
    "disk_unwritable": (disk, "write_error", lambda: "ENOSPC"),
    "sandbox_outdated": (sandbox_client, "is_outdated", lambda: True),
    "clock_differs": (db_clock, "offset", lambda: timedelta(hours=1)),
    "sandbox_unavailable": (sandbox_client, "answers", lambda: False),
    "engine_unavailable": (runs.WORK, "is_ready", lambda: False),
    gate.DATABASE: (work, "store_responds", lambda: (_ for _ in ()).throw(OperationalError("database is locked"))),
}


@pytest.mark.django_db
@pytest.mark.parametrize("reason", REASONS)
def test_a_message_goes_back_whatever_the_worker_lacks(
    sandbox: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reason: str
) -> None:
    # Each run says itself which release it needs.
    assert {*REASONS, "worker_outdated"} == set(gate.MESSAGES)
    run = build().insert_run(enqueued_at=timezone.now())
    pauses: list[float] = []
    monkeypatch.setattr("leaderboard.jobs.time.sleep", pauses.append)
    with monkeypatch.context() as lacking:
        lacking.setattr(*REASONS[reason])
        with pytest.raises(Reject) as rejected:
            jobs.app.tasks[enqueue.task_name("score")](str(run.pk))
    assert rejected.value.requeue and pauses == [gate.PAUSE_SECONDS] and reason in caplog.text
    run.refresh_from_db()
    assert (run.state, run.attempt) == (State.QUEUED, 0)


@pytest.mark.django_db
def test_a_frozen_sandbox_closes_the_gate(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel accepts connections for a process that is stopped; it only never replies."""
    monkeypatch.setattr(sandbox_client, "READY_SECONDS", 0.1)
    # Unix sockets need a short path.
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as frozen:
        settings.SANDBOX_SOCKET = f"{folder}/sandbox.sock"
        frozen.bind(settings.SANDBOX_SOCKET)
        frozen.listen()
        assert runs.WORK.why_not_ready() == "sandbox_unavailable"


@pytest.mark.django_db
def test_a_run_of_a_later_release_goes_back(
    sandbox: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is for an upgraded worker. Once a board of that release exists, the gate is closed to all others."""
    monkeypatch.setattr(jobs.GATE, "_why_not", {})
    world = build()
    run = world.insert_run(enqueued_at=timezone.now(), task_version=99)
    assert not runs.WORK.take(run.pk) and "worker_outdated" in caplog.text
    run.refresh_from_db()
    assert (run.state, run.attempt, run.reason) == (State.QUEUED, 0, Reason.OUTDATED)
    jobs.GATE.check({"scoring"})
    assert jobs.GATE.is_open("scoring")
    Leaderboard.objects.create(
        phase=world.phase, gold_version=world.gold, task_version=99, state=Leaderboard.State.PREPARING
    )
    jobs.GATE.check({"scoring"})
    assert not jobs.GATE.is_open("scoring")
    assert WorkerReport.objects.get(queue="scoring").message == gate.MESSAGES["worker_outdated"]


class Messages:
    """The part of Celery's consumer of messages that the gate uses."""

    def __init__(self, *queues: str) -> None:
        self.queues = [SimpleNamespace(name=name) for name in queues]

    def add_queue(self, queue: Any) -> None:
        self.queues.append(queue)

    def consume(self) -> None:
        pass

    def cancel_by_queue(self, name: str) -> None:
        self.queues = [queue for queue in self.queues if queue.name != name]


def consumer_of(messages: Messages | None) -> Any:
    served = {name: SimpleNamespace(name=name) for name in ("scoring", "notifications")}
    queues = SimpleNamespace(consume_from=served)
    return SimpleNamespace(task_consumer=messages, app=SimpleNamespace(amqp=SimpleNamespace(queues=queues)))


@pytest.mark.django_db
def test_only_open_queues_are_consumed(monkeypatch: pytest.MonkeyPatch) -> None:
    why_not = ["disk_unwritable"]
    closing = gate.Gate({"scoring": lambda: why_not[0]})
    messages = Messages("scoring", "notifications")
    for reason, consumed in (("disk_unwritable", {"notifications"}), ("", {"scoring", "notifications"})):
        why_not[0] = reason
        closing.check({"scoring", "notifications"})
        closing.switch(consumer_of(messages))
        assert {queue.name for queue in messages.queues} == consumed
        report = WorkerReport.objects.get(queue="scoring")
        assert (report.ready, report.message) == (not reason, gate.MESSAGES.get(reason, ""))
    closing.switch(consumer_of(None))  # while it connects


@pytest.mark.django_db
def test_a_check_that_fails_closes_the_queue(caplog: pytest.LogCaptureFixture) -> None:
    def raises() -> str:
        raise RuntimeError("a secret")

    closing = gate.Gate({"scoring": raises})
    closing.check({"scoring"})
    assert not closing.is_open("scoring") and "readiness_unknown" in caplog.text and "a secret" not in caplog.text


def test_a_ready_worker_is_checked_rarely_until_a_message_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, checks, why_not = [1000.0], [0], [""]

    def check(queues: set[str]) -> None:
        checks[0] += 1
        closing._why_not["scoring"] = why_not[0]

    closing = gate.Gate({})
    monkeypatch.setattr(gate.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(closing, "check", check)

    def checked(seconds: float) -> int:
        """Return how often it is checked in this time."""
        before = checks[0]
        for _ in range(int(seconds / gate.CHECK_SECONDS)):
            clock[0] += gate.CHECK_SECONDS
            closing._beat({"scoring"})
        return checks[0] - before

    assert checked(20) == 2
    closing._note_message()
    assert checked(gate.CHECK_SECONDS) == 1
    why_not[0], closing._changed = "sandbox_unavailable", clock[0] + gate.IDLE_SECONDS
    assert checked(gate.IDLE_SECONDS) == 1, "it is ready, so far"
    assert checked(20) == 10, "it may be ready any moment"
    clock[0] += gate.STEADY_SECONDS
    assert checked(20) < 10, "an engine that is not there"
