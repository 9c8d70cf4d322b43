"""A running site for a test: the sandbox server, and workers in separate processes on the test's database.

Put `pytest_plugins = ["tests.support.workers.running_stack"]` into a test module. `stack` provides everything except
the web server, for which pytest-django's `live_server` uses the same database. It works on SQLite with folders as the
broker, and on PostgreSQL with Redis if HOLDOUT_DATABASE_URL and HOLDOUT_BROKER_URL name them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F

from evaluator import code_digest
from leaderboard.celery import app
from leaderboard.models import Ranking, Release, Run, State, Submission
from leaderboard.operations import processes

PATIENCE = 240.0


def database_url() -> str:
    """Return the address of the test's database, for processes that would otherwise open the site's own."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["HOLDOUT_DATABASE_URL"])._replace(path="/" + name).geturl()


def environment(**more: str) -> dict[str, str]:
    """Return the environment of the test's processes: the test's database, data folder, queue and sandbox."""
    ours = {
        "DJANGO_SETTINGS_MODULE": "tests.process_settings",
        "TEST_CODE_SHA256": code_digest.SHA256,
        "HOLDOUT_DATA": str(settings.DATA),
        "HOLDOUT_DATABASE_URL": database_url(),
        "HOLDOUT_SECRET_KEY": settings.SECRET_KEY,
        "HOLDOUT_SANDBOX_SOCKET": settings.SANDBOX_SOCKET,
        "HOLDOUT_LOG_LEVEL": "INFO",
    }
    return processes.environment({**ours, **more})


def children(pid: int) -> list[int]:
    """Return the ids of the processes that a process has forked, in any of its threads."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


@dataclass
class Worker:
    """A Celery worker with its log; `kill` sends SIGKILL to it and its pool."""

    process: subprocess.Popen[bytes]
    log: Path

    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        if self.alive():
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.alive():
            os.killpg(self.process.pid, number)
            self.process.wait()


def _is_ranked() -> bool:
    """Return whether the boards include all releases; a worker ranks them right after it has published one."""
    return not Release.objects.filter(sequence__gt=F("phase__ranked_sequence")).exists()


@dataclass
class Stack:
    """The processes behind the web server. One worker is started with the stack; a test may start more."""

    workers: list[Worker] = field(default_factory=list)

    def start_worker(self, *, concurrency: int = 1, command: list[str] | None = None, **env: str) -> Worker:
        """Start a scoring worker, or `command`; its log is in the data folder, named after its number."""
        log = settings.DATA / f"worker-{len(self.workers)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command or processes.worker(concurrency=concurrency),
                cwd=settings.ROOT,
                env=environment(**env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        worker = Worker(process, log)
        self.workers.append(worker)
        return worker

    def wait_for_run(self, run: Run, *, states: tuple[str, ...] = ()) -> Run:
        """Wait until a run is over, or in one of `states`; otherwise fail with the workers' logs."""

        def is_finished() -> bool:
            run.refresh_from_db()
            return run.state in states if states else run.is_over and _is_ranked()

        self.follow(is_finished, f"run {run.pk}")
        return run

    def wait_for(self, submission: Submission) -> Run:
        """Wait until the last run of a submission is over, and return it."""
        return self.wait_for_run(Run.objects.filter(prediction__submission=submission).latest("queued_at"))

    def drain(self) -> None:
        """Wait until all scoring and comparing is over, so that no work is left for the next test's empty database."""
        self.follow(lambda: not Run.objects.filter(state__in=(State.QUEUED, State.RUNNING)).exists(), "the queue")
        self.follow(_is_ranked, "the ranking")
        self.follow(lambda: not Ranking.objects.exclude(lease_until=None).exists(), "the comparing")

    def follow(self, condition: Any, subject: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if not any(worker.alive() for worker in self.workers) or time.monotonic() > deadline:
                pytest.fail(f"{subject} did not end; the workers' logs:\n{self.said()}")
            time.sleep(0.05)

    def said(self) -> str:
        """Return the last lines of each worker's log."""
        return "\n".join(
            f"--- {worker.log.name}\n{worker.log.read_text(errors='replace')[-4000:]}" for worker in self.workers
        )

    @contextmanager
    def stopping(self) -> Iterator[Stack]:
        try:
            yield self
        finally:
            for worker in self.workers:
                worker.stop()


def empty_queue() -> None:
    """Delete the messages of earlier tests from the broker."""
    with app.connection_for_write() as broker:
        channel = broker.channel()
        for queue in ("scoring", "systems", "systems-gpu", "scorers", "notifications"):
            app.amqp.queues[queue](channel).declare()
            app.amqp.queues[queue](channel).purge()


# Not session-scoped: a worker that outlives its module would take runs of later tests, which score their own.
@pytest.fixture(scope="module")
def _worker(django_db_setup: None, django_db_blocker: Any, sandbox: str) -> Iterator[Stack]:
    with django_db_blocker.unblock(), Stack().stopping() as stack:
        # Otherwise hundreds of messages left by tests without a worker would come before the first of this module.
        empty_queue()
        stack.start_worker()
        yield stack


@pytest.fixture
def stack(_worker: Stack, transactional_db: None) -> Iterator[Stack]:
    """Provide the sandbox and a live worker, which is started again if a test has killed it."""
    if not any(worker.alive() for worker in _worker.workers):
        _worker.start_worker()
    yield _worker
    if any(worker.alive() for worker in _worker.workers):
        _worker.drain()
