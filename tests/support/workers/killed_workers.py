"""Workers that tests kill.

Put `pytest_plugins = ["tests.support.workers.running_stack", "tests.support.workers.killed_workers"]` into a test
module.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.models import Prediction, Run, State
from tests.support.workers.running_stack import Stack, environment

PATIENCE = 180


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[object]:
    """Return a callable that starts a worker which holds at a point, and returns when it is there."""
    started: list[subprocess.Popen[bytes]] = []

    def start(point: str, *, module: str = "faulty_scorer", queue: str = "scoring") -> subprocess.Popen[bytes]:
        reached = tmp_path / point
        log = (tmp_path / f"{point}.log").open("wb")
        command = [sys.executable, "-m", "celery", "-A", f"tests.support.workers.{module}"]
        command += ["worker", "--pool", "solo", "-Q", queue, "-l", "WARNING"]
        process = subprocess.Popen(
            command,
            cwd=settings.ROOT,
            env={**environment(), "HOLD_AT": point, "HOLD_FILE": str(reached)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        started.append(process)
        waited = threading.Event()
        for _ in range(PATIENCE * 20):
            if reached.exists():
                return process
            assert process.poll() is None, (tmp_path / f"{point}.log").read_text()
            waited.wait(0.05)
        pytest.fail(f"the worker did not reach {point}:\n" + (tmp_path / f"{point}.log").read_text())

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def let_leases_end() -> None:
    """Make the leases of dead workers expire."""
    for rows in (Run.objects, Prediction.objects):
        rows.filter(state=State.RUNNING).update(lease_until=timezone.now() - timedelta(seconds=1))


@pytest.fixture
def stack_later(sandbox: str) -> Iterator[object]:
    """Return a callable that starts a normal worker."""
    with Stack().stopping() as stack:

        def start() -> Stack:
            stack.start_worker()
            return stack

        yield start
