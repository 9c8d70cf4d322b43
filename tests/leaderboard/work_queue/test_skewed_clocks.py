"""Hosts whose clocks differ by an hour share the queue: leases and lost messages are timed by the database's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from leaderboard.containers.actions import engine, workers
from leaderboard.models import Reason, Run, State, WorkerReport, worker
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue, worker_status
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
each_clock = pytest.mark.parametrize("off", [HOUR, -HOUR], ids=["ahead", "behind"])
Clock = Callable[[timedelta], object]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a context manager in which this process is on a host whose clock is off."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is for one machine, which has one clock")
    right = timezone.now

    @contextmanager
    def on_host(off: timedelta) -> Iterator[None]:
        with monkeypatch.context() as patched:
            patched.setattr(timezone, "now", lambda: right() + off)
            yield

    return on_host


@pytest.fixture
def queued(clock: Clock, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], Run]:
    """Return a function that submits to a host whose clock is off; no message waits in the broker."""
    monkeypatch.setattr(enqueue, "n_waiting", lambda queue: 0)
    world: World = build()

    def submit(off: timedelta) -> Run:
        with clock(off):
            return Run.objects.get(prediction__submission=world.submit())

    return submit


@each_clock
def test_a_sweep_on_a_host_with_another_clock_takes_no_lease_that_is_held(queued, clock, off: timedelta) -> None:
    run = queued(timedelta())
    assert runs.WORK.claim(run.pk) is not None
    with clock(off):
        assert runs.WORK.sweep() == 0
    assert Run.objects.get().state == State.RUNNING


@each_clock
def test_a_lease_renewed_on_a_host_with_another_clock_ends_in_time(queued, clock, settings, off: timedelta) -> None:
    run = queued(timedelta())
    with clock(off):
        lease = runs.WORK.claim(run.pk)
        assert lease is not None and lease.renew()
    assert runs.WORK.sweep() == 0, "the worker may still be alive"
    with clock(off):
        settings.LEASE_SECONDS = 0
        assert lease.renew()
    assert runs.WORK.sweep() == 1
    row = Run.objects.get()
    assert (row.state, row.reason) == (State.QUEUED, Reason.LOST)


@each_clock
def test_a_lost_message_of_a_host_with_another_clock_is_sent_again_in_time(queued, settings, off: timedelta) -> None:
    queued(off)
    assert runs.WORK.sweep() == 0, "it was sent just now"
    settings.SWEEP_SECONDS = 0
    assert runs.WORK.sweep() == 1


@each_clock
def test_a_report_of_a_worker_with_another_clock_is_fresh(clock, monkeypatch, off: timedelta) -> None:
    monkeypatch.setattr(engine, "health_check", lambda: {"runtime": "runc"})
    monkeypatch.setattr(engine, "reap", lambda keep: [])
    monkeypatch.setattr(engine, "forget", lambda images: None)
    with clock(off):
        workers.report()
    assert worker_status.of().ready
    WorkerReport.objects.update(seen_at=timezone.now() - worker.FRESH)
    assert not worker_status.of().ready, "it is gone"
    with clock(off):
        assert not worker_status.of().ready
        workers.heartbeat()
    assert worker_status.of().ready
