"""A Redis that accepts connections and never answers delays a request by seconds; the sweep enqueues the row later."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from leaderboard.work_queue import enqueue

ENQUEUE = "import django; django.setup(); from leaderboard.work_queue import enqueue; enqueue._send('task', 'key')"


@pytest.mark.slow
def test_enqueuing_gives_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = {
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "HOLDOUT_DATA": str(tmp_path),
            "HOLDOUT_BROKER_URL": f"redis://127.0.0.1:{listening.getsockname()[1]}/0",
        }
        # Without a timeout of the broker's connection this would hang.
        done = subprocess.run(
            [sys.executable, "-c", ENQUEUE], env={**os.environ, **settings}, capture_output=True, text=True, check=True
        )
    assert "enqueue_failed" in done.stderr


def test_requests_do_not_queue_behind_a_broker_that_hangs(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CELERY_BROKER_URL = "amqp://hangs"
    monkeypatch.setattr(enqueue, "_patience", enqueue._Patience())
    monkeypatch.setattr(enqueue, "SEND_SECONDS", 0.01)
    answers, begun, sent = Semaphore(0), Semaphore(0), []

    def send_task(_: str, *, args: list[str], **__: Any) -> None:
        begun.release()
        answers.acquire()
        sent.append(args[0])

    monkeypatch.setattr(enqueue.app, "send_task", send_task)
    enqueue._send("task", "a")
    begun.acquire()
    for key in "bc":
        enqueue._send("task", key)
    assert not sent and not begun.acquire(blocking=False)
    assert caplog.text.count("enqueue_failed") == 3
    hanging = enqueue._patience._hanging
    assert hanging is not None
    for _ in range(3):
        answers.release()
    hanging.join()
    monkeypatch.setattr(enqueue, "SEND_AGAIN_SECONDS", 60)
    for key in "de":
        enqueue._send("task", key)
    assert sent == ["a", "d", "e"] and enqueue._patience._hanging is None
