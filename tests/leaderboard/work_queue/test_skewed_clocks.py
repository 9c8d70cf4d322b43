"""Hosts whose clocks differ by an hour: leases, lost messages, deadlines and quotas go by the database's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client as DjangoClient
from django.utils import timezone

from leaderboard.containers.actions import engine, image_uploads, images, run_system, workers
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation.container_limits import Resources
from leaderboard.models import (
    HiddenSubmission,
    ImageUpload,
    Phase,
    Prediction,
    QuotaCharge,
    Reason,
    Release,
    Run,
    State,
    WorkerReport,
    worker,
)
from leaderboard.scoring.actions import runs, sealed_phases
from leaderboard.submissions.actions import hide, validation
from leaderboard.work_queue import enqueue, worker_status
from leaderboard.work_queue.lease import Lease
from tests.support.rows import container_rows
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
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
    monkeypatch.setattr(engine, "images", frozenset)
    monkeypatch.setattr(engine, "disk_free_bytes", lambda: None)
    monkeypatch.setattr(engine, "offer", lambda: Resources(cpus=4, memory_bytes=10**10))
    with clock(off):
        workers.report()
    assert worker_status.of().ready
    WorkerReport.objects.update(seen_at=timezone.now() - worker.FRESH)
    assert not worker_status.of().ready, "it is gone"
    with clock(off):
        assert not worker_status.of().ready
        workers.heartbeat()
    assert worker_status.of().ready


@each_clock
def test_a_host_with_another_clock_keeps_deadlines_and_charges_the_right_day(clock, sandbox, off: timedelta) -> None:
    world = build()
    soon, before = HOUR / 2, timezone.now()
    Phase.objects.update(opens_at=before - soon, closes_at=before + soon)
    world.phase.refresh_from_db()
    with clock(off):
        submission = world.submit()
    assert before <= submission.received_at <= timezone.now()
    assert QuotaCharge.objects.get().charged_at == submission.received_at
    for opens_at, closes_at in ((before + soon, before + HOUR), (before - HOUR, before - soon)):
        Phase.objects.update(opens_at=opens_at, closes_at=closes_at)
        world.phase.refresh_from_db()
        with clock(off), pytest.raises(Refused) as refused:
            world.submit()
        assert refused.value.code == Code.PHASE_CLOSED


@each_clock
@pytest.mark.parametrize("kind", ["file", "container"])
def test_work_queued_by_a_host_with_another_clock_has_waited_since_then(clock, sandbox, kind: str, off) -> None:
    """Hosts compare how long containers have waited with the present."""
    world, before = build(), timezone.now()
    container_rows.takes_images(world)
    container_rows.engine_is_there()
    image = images.get_or_create("r/a@sha256:b")
    with clock(off):
        submission = (
            world.submit() if kind == "file" else images.submit(phase=world.phase, entry=world.entry(), image=image)
        )
    prediction = submission.predictions.get()
    row = prediction.runs.get() if kind == "file" else prediction
    assert before <= row.queued_at <= timezone.now()


@each_clock
def test_a_submission_hidden_on_one_host_is_shown_again_on_another(clock, sandbox, off: timedelta) -> None:
    world, before = build(), timezone.now()
    world.benchmark.organisers.add(world.curator)
    submission = world.submit()
    with clock(off):
        hide.hide(submission=submission, reason="Leaked gold.", by=world.curator)
        hide.take_off(submission=submission, by=world.researcher)
    with clock(-off):
        assert hide.unhide(submission=submission, by=world.curator)
        assert hide.put_back(submission=submission, by=world.researcher)
    for row in HiddenSubmission.objects.all():
        assert row.unhidden_at is not None and before <= row.hidden_at <= row.unhidden_at <= timezone.now()


@each_clock
@pytest.mark.parametrize("kind", ["file", "container"])
def test_a_refund_by_a_host_with_another_clock_has_the_right_date(clock, sandbox, kind: str, off: timedelta) -> None:
    world, before = build(), timezone.now()
    if kind == "file":
        prediction, work = world.submit().predictions.get(), validation.WORK
    else:
        prediction, work = container_rows.insert(world), run_system.WORK
    running = {"state": State.RUNNING, "attempt": 1, "started_at": before, "lease_until": before + HOUR}
    Prediction.objects.filter(pk=prediction.pk).update(**running, finished_at=None)
    with clock(off):
        work.retry_or_fail(Lease(work.rows.get(), 1), reason=Reason.INTERNAL, final=True)
    assert before <= QuotaCharge.objects.get().refunded_at <= timezone.now()


@each_clock
def test_a_host_with_another_clock_opens_a_sealed_phase_in_time(clock, off: timedelta) -> None:
    build()
    soon, at = HOUR / 2, timezone.now()
    Phase.objects.update(disclosure=Phase.Disclosure.SEALED, closes_at=at - HOUR, sealed_until=at + soon)
    phase = Phase.objects.get()
    with clock(off):
        assert sealed_phases.sweep() == 0 and not sealed_phases.unseal(phase=phase)
    Phase.objects.update(sealed_until=at - soon)
    with clock(off):
        # Either clock may be the wrong one: a host that is behind leaves it to the others.
        assert sealed_phases.sweep() == (off > timedelta())
    assert sealed_phases.sweep() == (off < timedelta())
    assert at <= Phase.objects.get().unsealed_at <= timezone.now()


@pytest.mark.parametrize("off", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_a_wrong_clock_of_the_database_opens_no_sealed_phase_early(clock, monkeypatch, off: timedelta) -> None:
    """All hosts are right. A clock that is ahead says that the date has passed, the other opens the phase late."""
    build()
    at = timezone.now()
    Phase.objects.update(disclosure=Phase.Disclosure.SEALED, closes_at=at - HOUR, sealed_until=at + HOUR / 2)
    phase = Phase.objects.get()
    now, read = db_clock.now, db_clock.read
    monkeypatch.setattr(db_clock, "now", lambda: now() + off)
    monkeypatch.setattr(db_clock, "read", lambda: read() + off)
    assert sealed_phases.sweep() == 0 and not sealed_phases.unseal(phase=phase)
    ready = DjangoClient().get("/health/ready")
    assert (ready.status_code, ready.json()["clock"]) == (503, False)


def test_a_wrong_clock_deletes_nothing_early(clock, monkeypatch) -> None:
    world = build()
    upload = ImageUpload.objects.create(phase=world.phase, by=world.researcher, name="image.tar", bytes=5)
    read = db_clock.read
    for patched in ("database", "host"):
        with monkeypatch.context() as patch, clock(5 * DAY if patched == "host" else timedelta()):
            if patched == "database":
                patch.setattr(db_clock, "read", lambda: read() + 5 * DAY)
            image_uploads.forget_old()
        assert ImageUpload.objects.get() == upload
    ImageUpload.objects.update(touched_at=timezone.now() - 5 * DAY)
    assert image_uploads.forget_old() == 1


@each_clock
def test_a_release_of_a_host_with_another_clock_has_the_right_date(queued, clock, off: timedelta) -> None:
    run, before = queued(timedelta()), timezone.now()
    lease = runs.WORK.claim(run.pk)
    with clock(off):
        runs.WORK.do(lease)
    release, run = Release.objects.get(), Run.objects.get()
    assert before <= run.finished_at <= release.released_at <= timezone.now()
