"""The health endpoints for monitors, and the warning about a low disk."""

from __future__ import annotations

import shutil
import threading
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.cache.backends.locmem import LocMemCache
from django.test import Client

from leaderboard.operations import disk_alarm, health

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free_space(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """Sets the free disk space in megabytes. The warning threshold is 1000, and no mail was sent yet."""
    settings.DISK_ALARM_BYTES, settings.OPERATORS = 1000 * 1_000_000, ["operator@board.example"]
    for alias in ("cache", "LOCAL_CACHE"):
        cache_of_test = LocMemCache(f"test-{alias}", {})
        cache_of_test.clear()
        monkeypatch.setattr(disk_alarm, alias, cache_of_test)

    def left(megabytes: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, megabytes * 1_000_000))

    return left


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each check take long, as on a loaded machine."""
    monkeypatch.setattr(health, "PATIENCE", 60.0)


def test_live_responds_under_any_host_name() -> None:
    response = Client(headers={"host": "10.1.2.3"}).get("/health/live")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.usefixtures("patient")
def test_ready_when_everything_responds(sandbox: str) -> None:
    response = Client().get("/health/ready")
    assert response.json() == {
        "database": True,
        "schema": True,
        "clock": True,
        "broker": True,
        "sandbox": True,
        "disk": True,
        "store": True,
    }
    assert response.status_code == 200


@pytest.mark.usefixtures("patient")
def test_not_ready_names_the_failing_service(settings: object, tmp_path: Path) -> None:
    settings.SANDBOX_SOCKET = str(tmp_path / "nobody")  # type: ignore[attr-defined]
    response = Client().get("/health/ready")
    assert response.json() == {
        "database": True,
        "schema": True,
        "clock": True,
        "broker": True,
        "sandbox": False,
        "disk": True,
        "store": True,
    }
    assert response.status_code == 503


def test_a_dependency_that_hangs_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """It delays no answer by more than PATIENCE, and many probes do not hang in many threads."""
    released, started = threading.Event(), []

    def hang() -> None:
        started.append(threading.current_thread())
        released.wait()

    monkeypatch.setattr(health, "PATIENCE", 0.05)
    monkeypatch.setitem(health.CHECKS, "broker", hang)
    responses = [Client().get("/health/ready") for _ in range(3)]
    assert {(response.status_code, response.json()["broker"]) for response in responses} == {(503, False)}
    assert len(started) == 1 and started[0].daemon
    released.set()
    started[0].join()


@pytest.mark.parametrize(("megabytes", "status"), [(1001, 200), (999, 503)])
def test_a_low_disk_is_reported_before_anything_fails(free_space: Any, megabytes: int, status: int) -> None:
    free_space(megabytes)
    response = Client(headers={"host": "10.1.2.3"}).get("/health/disk")
    assert (response.status_code, response.json()) == (status, {"low": status == 503})


@pytest.mark.usefixtures("patient")
def test_the_site_is_ready_with_a_low_disk_and_not_with_a_full_one(free_space: Any, sandbox: str) -> None:
    free_space(101)
    assert Client().get("/health/ready").status_code == 200
    free_space(99)
    response = Client().get("/health/ready")
    assert response.json() == {
        "database": True,
        "schema": True,
        "clock": True,
        "broker": True,
        "sandbox": True,
        "disk": False,
        "store": True,
    }
    assert response.status_code == 503


def test_the_operator_gets_one_mail_a_day(free_space: Any) -> None:
    free_space(1001)
    assert disk_alarm.sweep() is False
    assert mail.outbox == []
    free_space(999)
    assert [disk_alarm.sweep() for _ in range(3)] == [True] * 3
    (message,) = mail.outbox
    assert message.to == ["operator@board.example"]
    assert "999 MB left" in message.subject and "manage.py cleanup" in message.body


def test_a_failed_mail_is_retried_and_does_not_stop_the_sweep(free_space: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    free_space(1)
    began = time.time()
    with monkeypatch.context() as patched:
        patched.setattr(disk_alarm, "send_mail", refuses)
        assert disk_alarm.sweep() is True
    mailed = []
    for minutes in (59, 61, 24 * 60, 26 * 60):
        monkeypatch.setattr(time, "time", lambda minutes=minutes: began + 60 * minutes)
        disk_alarm.sweep()
        mailed.append(len(mail.outbox))
    assert mailed == [0, 1, 1, 2], "an hour later, and then a day after that"


def test_a_full_disk_does_not_cause_repeated_mails(free_space: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_alarm.cache, "add", full)
    free_space(0)
    assert [disk_alarm.sweep() for _ in range(3)] == [True] * 3
    assert len(mail.outbox) == 1
