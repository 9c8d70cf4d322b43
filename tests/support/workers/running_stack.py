"""A whole Holdout for a test: the sandbox server, and workers in processes of their own over the test's database.

Put `pytest_plugins = ["tests.support.workers.running_stack"]` into a test module. `stack` gives everything but the web
server; pytest-django's `live_server` is that, on the same database. It works on SQLite with folders as the broker, and
on PostgreSQL with Redis where HOLDOUT_DATABASE_URL and HOLDOUT_BROKER_URL name them.
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

from evaluator import code_digest
from leaderboard.celery import app
from leaderboard.models import Ranking, Run, State, Submission
from leaderboard.operations import processes

PATIENCE = 240.0


def database_url() -> str:
    """The address of the test's database, for processes that would otherwise open the site's own."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["HOLDOUT_DATABASE_URL"])._replace(path="/" + name).geturl()


def environment(**more: str) -> dict[str, str]:
    """What a process of the test's own site reads: the test's database, data folder, queue and sandbox."""
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


@dataclass
class Worker:
    """One Celery worker with its log; `kill` is -9 for it and its pool."""

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


@dataclass
class Stack:
    """The processes behind the web server. `worker` is started with the stack; a test may start more."""

    workers: list[Worker] = field(default_factory=list)

    def start_worker(self, *, concurrency: int = 1, command: list[str] | None = None, **env: str) -> Worker:
        """A worker that scores, or another; its log is in the data folder, named after its number."""
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
        """Follow a run until it is over, or in one of `states`; fails with the workers' logs if it never is."""

        def there() -> bool:
            run.refresh_from_db()
            return run.state in states if states else run.is_over

        self._follow(there, f"run {run.pk}")
        return run

    def wait_for(self, submission: Submission) -> Run:
        """The last run of a submission, once it is over."""
        return self.wait_for_run(Run.objects.filter(prediction__submission=submission).latest("queued_at"))

    def drain(self) -> None:
        """Wait until nobody scores or compares: a test must not leave work for the next one's empty database."""
        self._follow(lambda: not Run.objects.filter(state__in=(State.QUEUED, State.RUNNING)).exists(), "the queue")
        self._follow(lambda: not Ranking.objects.exclude(lease_until=None).exists(), "the comparing")

    def _follow(self, there: Any, what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not there():
            if not any(worker.alive() for worker in self.workers) or time.monotonic() > deadline:
                pytest.fail(f"{what} did not end; the workers said:\n{self.said()}")
            time.sleep(0.05)

    def said(self) -> str:
        """The last lines of each worker's log."""
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
    """Forget the messages of earlier tests, whichever broker holds them."""
    with app.connection_for_write() as broker:
        channel = broker.channel()
        for queue in ("scoring", "systems", "scorers"):
            app.amqp.queues[queue](channel).declare()
            app.amqp.queues[queue](channel).purge()


# Not of the session: a worker that outlives its module takes the runs of later tests, which score theirs themselves.
@pytest.fixture(scope="module")
def _worker(django_db_setup: None, django_db_blocker: Any, sandbox: str) -> Iterator[Stack]:
    with django_db_blocker.unblock(), Stack().stopping() as stack:
        # What tests without a worker have left there, hundreds of messages, would go before the first of its own.
        empty_queue()
        stack.start_worker()
        yield stack


@pytest.fixture
def stack(_worker: Stack, transactional_db: None) -> Iterator[Stack]:
    """The sandbox and one worker, alive; a test that kills the worker finds another one next time."""
    if not any(worker.alive() for worker in _worker.workers):
        _worker.start_worker()
    yield _worker
    if any(worker.alive() for worker in _worker.workers):
        _worker.drain()
