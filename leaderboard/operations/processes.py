"""The site's processes and their command lines; containers use the same ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

ROLES = ("sandbox", "web", "worker", "beat", "systems", "scorers", "notifications")
FORMER_ROLES = {"notices": "notifications"}
"""Names of the previous release, with their present names; until the next release."""


def web(bind: str) -> list[str]:
    """Gunicorn on `bind`, an address or `fd://N`. Threads, because a request may wait for the sandbox."""
    return [
        *(sys.executable, "-m", "gunicorn", "leaderboard.wsgi:application"),
        *("--bind", bind, "--worker-class", "gthread", "--workers", "2", "--threads", "8"),
        # Heartbeat files on a disk that is busy with an upload would make a worker look hung.
        *("--worker-tmp-dir", "/dev/shm" if Path("/dev/shm").is_dir() else "/tmp"),  # noqa: S108
        # Forwarded headers are trusted as HOLDOUT_PROXY says, not because the client is on this machine.
        *("--forwarded-allow-ips", ""),
        *("--timeout", "120", "--graceful-timeout", "10", "--no-control-socket"),
    ]


def worker(*, concurrency: int = 2) -> list[str]:
    """The scoring workers. They get their work from the database, so they need no gossip."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", "scoring"),
        *("--hostname", "scoring@%h", "--concurrency", str(concurrency), "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def systems() -> list[str]:
    """The worker that runs submitted containers, one at a time: it has the engine, and needs no gold."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", "systems"),
        *("--hostname", "systems@%h", "--concurrency", "1", "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def scorers() -> list[str]:
    """The worker that runs custom scorers, one at a time: it has the engine and gold, but no submitted images."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", "scorers"),
        *("--hostname", "scorers@%h", "--concurrency", "1", "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def notifications() -> list[str]:
    """The worker that sends mails and calls webhooks. It has no gold, and uses threads: it mostly waits.

    It also reads the queue's former name, `notices`, in which the previous release may have left messages.
    """
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", "notifications,notices"),
        *("--hostname", "notifications@%h", "--pool", "threads", "--concurrency", "4", "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def beat() -> list[str]:
    """The scheduler of the sweep. One is enough; a second one is harmless."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "beat", "--loglevel", "WARNING"),
        *("--schedule", str(settings.DATA / "beat-schedule"), "--pidfile", ""),
    ]


def sandbox() -> list[str]:
    """The sandbox server, which is isolated from everything but its listening socket."""
    return [sys.executable, "-m", "evaluator.sandbox.process.server", "--socket", settings.SANDBOX_SOCKET]


def command(role: str, *, bind: str) -> list[str]:
    """Return the command line of one of ROLES."""
    if role == "web":
        return web(bind)
    roles = {"sandbox": sandbox, "worker": worker, "beat": beat, "systems": systems, "scorers": scorers}
    return {**roles, "notifications": notifications}[role]()


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the children's environment: this process's, with one thread for linear algebra, as cores are shared."""
    defaults = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    return {**defaults, **os.environ, **(extra or {})}
