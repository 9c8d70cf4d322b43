"""A disk without space, on which a worker writes, fails no submission: work waits, and no attempt is used up."""

from __future__ import annotations

import errno
import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.files.storage import storages
from django.db import DatabaseError, OperationalError
from django.utils import timezone

from evaluator.errors import SandboxError
from leaderboard.core import disk
from leaderboard.models import QuotaCharge, Reason, Run, State
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue, work
from leaderboard.work_queue.work import LONGEST_PAUSE
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def full_disk() -> Iterator[Path]:
    """A file system of 8 kB, with the stored outcomes on it."""
    folder = Path(storages["outcomes"].location)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], check=True)
    (folder / "other").write_bytes(b"0" * 8192)
    yield folder
    subprocess.run(["umount", folder], check=True)


def pass_time(run: Run, by: timedelta) -> None:
    """Let time pass for a run."""
    rows = Run.objects.filter(pk=run.pk)
    run.refresh_from_db()
    rows.update(queued_at=run.queued_at - by, enqueued_at=run.enqueued_at - by)


@pytest.mark.root
def test_a_disk_that_is_full_for_five_minutes_fails_no_submission(
    full_disk: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = build()
    submission = world.submit()
    run = Run.objects.get()
    assert not runs.WORK.run(run.pk), "a worker that has noticed takes nothing"
    monkeypatch.setattr(disk, "write_error", lambda: "")
    tries = 0
    sent: list[Any] = []
    monkeypatch.setattr(enqueue, "_send", lambda *message: sent.append(message))
    monkeypatch.setattr("django.db.transaction.on_commit", lambda function, **_: function())
    monkeypatch.setattr(enqueue, "n_waiting", lambda queue: 0)
    runs.WORK.run(run.pk)
    for _ in range(300 // settings.SWEEP_SECONDS):
        run.refresh_from_db()
        assert (run.state, run.attempt) == (State.QUEUED, 0)
        assert QuotaCharge.objects.get(submission=submission).refunded_at is None
        pass_time(run, timedelta(seconds=settings.SWEEP_SECONDS))
        sent.clear()
        runs.WORK.sweep()
        if sent:
            tries += 1
            runs.WORK.run(run.pk)
    assert tries >= 3 and "OSError" in caplog.text
    # The pauses grow.
    Run.objects.update(queued_at=timezone.now() - timedelta(hours=2), enqueued_at=timezone.now())
    runs.WORK.run(run.pk)
    pass_time(run, LONGEST_PAUSE / 2)
    sent.clear()
    assert runs.WORK.sweep() == 0 and sent == []
    (full_disk / "other").unlink()
    pass_time(run, LONGEST_PAUSE / 2 - timedelta(seconds=settings.SWEEP_SECONDS))
    assert runs.WORK.sweep() == 1 and len(sent) == 1
    runs.WORK.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempt) == (State.DONE, 1)


@pytest.fixture
def world() -> World:
    return build()


def raising(error: BaseException) -> Any:
    def do(lease: Any) -> None:
        raise error

    return do


def caused_by(cause: BaseException) -> Exception:
    error = RuntimeError("the file could not be kept")
    error.__cause__ = cause
    return error


def of_postgresql(state: str) -> DatabaseError:
    error = DatabaseError("what PostgreSQL says")
    error.__cause__ = psycopg.errors.lookup(state)()
    return error


PASSING = {
    **{name: OSError(getattr(errno, name), name) for name in ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES")},
    **{name: OSError(getattr(errno, name), name) for name in ("ENFILE", "EMFILE", "ENOMEM", "EAGAIN", "ENOTCONN")},
    "memory": MemoryError(),
    "threads": RuntimeError("can't start new thread"),
    "without a code": TimeoutError("timed out"),
    "names": socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    "a standby, after a failover": of_postgresql("25006"),
    "the database's memory": of_postgresql("53200"),
    "the database's disk fails": of_postgresql("58030"),
    "engine or broker": ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    "wrapped": caused_by(OSError(errno.ENOSPC, "no space")),
    "database": OperationalError("database is locked"),
    "database's disk": OperationalError("could not extend file: No space left on device"),
}


@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
def test_what_passes_uses_up_no_attempt(world: World, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    run = world.insert_run(enqueued_at=timezone.now())
    monkeypatch.setattr(runs.WORK, "do", raising(error))
    for _ in range(settings.MAX_ATTEMPTS + 1):
        runs.WORK.run(run.pk)
        run.refresh_from_db()
        assert (run.state, run.attempt) == (State.QUEUED, 0)
    # After a day somebody has to look.
    Run.objects.update(queued_at=timezone.now() - work.SPARED_FOR)
    for _ in range(settings.MAX_ATTEMPTS):
        runs.WORK.run(run.pk)
    run.refresh_from_db()
    assert run.state == State.FAILED


def test_a_store_that_is_not_mounted_uses_up_no_attempt(world: World) -> None:
    """Its folder is there and empty, so that each file seems to be lost."""
    run = world.insert_run(enqueued_at=timezone.now())
    folder = Path(storages["predictions"].location)
    aside = folder.rename(folder.with_name("aside"))
    folder.mkdir()
    try:
        for _ in range(settings.MAX_ATTEMPTS + 1):
            runs.WORK.run(run.pk)
    finally:
        folder.rmdir()
        aside.rename(folder)
    run.refresh_from_db()
    assert (run.state, run.attempt, run.reason) == (State.QUEUED, 0, Reason.STORAGE)


def test_an_error_that_is_its_own_cause_ends() -> None:
    """As in `raise refused.__cause__ from refused`."""
    error = caused_by(ValueError("x"))
    assert error.__cause__ is not None
    error.__cause__.__cause__ = error
    assert not disk.is_passing(error)


@pytest.mark.parametrize("error", [SandboxError("the engine is gone"), KeyError("x")], ids=str)
def test_an_attempt_does_not_count_if_the_host_is_not_ready_after_it(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Whatever the exception says: the sandbox or the engine has died, for example."""
    run = world.insert_run(enqueued_at=timezone.now())
    monkeypatch.setattr(runs.WORK, "do", raising(error))
    lease = runs.WORK.claim(run.pk)
    assert lease is not None
    monkeypatch.setattr(runs.WORK, "is_ready", lambda: False)
    runs.WORK._attempt(lease)
    run.refresh_from_db()
    assert (run.state, run.attempt) == (State.QUEUED, 0)
