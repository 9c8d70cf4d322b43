"""What a monitor is told."""

from __future__ import annotations

import shutil
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.cache.backends.locmem import LocMemCache
from django.test import Client

from leaderboard.operations import disk_alarm

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """Sets how many megabytes the disk has left; the alarm is at 1000, and nothing was mailed yet."""
    settings.DISK_ALARM_BYTES, settings.OPERATORS = 1000 * 1_000_000, ["operator@board.example"]
    for marks in ("cache", "LOCAL_CACHE"):
        fresh = LocMemCache(f"test-{marks}", {})
        fresh.clear()
        monkeypatch.setattr(disk_alarm, marks, fresh)

    def left(megabytes: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, megabytes * 1_000_000))

    return left


def test_live_answers_by_any_host_name() -> None:
    response = Client(headers={"host": "10.1.2.3"}).get("/health/live")
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_ready_when_everything_answers(sandbox: str) -> None:
    response = Client().get("/health/ready")
    assert response.json() == {"database": True, "broker": True, "sandbox": True, "disk": True}
    assert response.status_code == 200


def test_not_ready_names_what_does_not_answer(settings: object, tmp_path: Path) -> None:
    settings.SANDBOX_SOCKET = str(tmp_path / "nobody")  # type: ignore[attr-defined]
    response = Client().get("/health/ready")
    assert response.json() == {"database": True, "broker": True, "sandbox": False, "disk": True}
    assert response.status_code == 503


@pytest.mark.parametrize(("megabytes", "status"), [(1001, 200), (999, 503)])
def test_a_disk_that_runs_low_is_told_before_anything_fails(room: Any, megabytes: int, status: int) -> None:
    room(megabytes)
    response = Client(headers={"host": "10.1.2.3"}).get("/health/disk")
    assert (response.status_code, response.json()) == (status, {"low": status == 503})


def test_a_low_disk_leaves_the_site_ready_and_a_full_one_does_not(room: Any, sandbox: str) -> None:
    room(101)
    assert Client().get("/health/ready").status_code == 200
    room(99)
    response = Client().get("/health/ready")
    assert response.json() == {"database": True, "broker": True, "sandbox": True, "disk": False}
    assert response.status_code == 503


def test_the_operator_gets_one_mail_a_day(room: Any) -> None:
    room(1001)
    assert disk_alarm.sweep() is False
    assert mail.outbox == []
    room(999)
    assert [disk_alarm.sweep() for _ in range(3)] == [True] * 3
    (told,) = mail.outbox
    assert told.to == ["operator@board.example"]
    assert "999 MB left" in told.subject and "manage.py tidy" in told.body


def test_a_mail_that_cannot_be_sent_is_tried_again_and_does_not_stop_the_sweeper(
    room: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    room(1)
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


def test_a_full_disk_that_keeps_no_mark_does_not_flood_the_operator(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_alarm.cache, "add", full)
    room(0)
    assert [disk_alarm.sweep() for _ in range(3)] == [True] * 3
    assert len(mail.outbox) == 1
