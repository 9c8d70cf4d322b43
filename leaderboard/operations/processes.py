"""Which processes make up the site, and the command line of each; containers start the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

ROLES = ("sandbox", "web", "worker", "beat", "systems", "scorers", "notices")


def web(bind: str) -> list[str]:
    """Gunicorn on `bind`, an address or `fd://N`. Threads, because a request may wait for the sandbox."""
    return [
        *(sys.executable, "-m", "gunicorn", "leaderboard.wsgi:application"),
        *("--bind", bind, "--worker-class", "gthread", "--workers", "2", "--threads", "8"),
        # Heartbeats on a disk that is busy with an upload would look like a hung worker.
        *("--worker-tmp-dir", "/dev/shm" if Path("/dev/shm").is_dir() else "/tmp"),  # noqa: S108
        # Whom to believe about TLS is HOLDOUT_PROXY's to say, not whoever calls from this machine.
        *("--forwarded-allow-ips", ""),
        *("--timeout", "120", "--graceful-timeout", "10", "--no-control-socket"),
    ]


def worker(*, concurrency: int = 2) -> list[str]:
    """The workers that score. The database says what is to be done, so they need no gossip among themselves."""
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
    """The worker that runs organisers' own scorers, one at a time: it has engine and gold, and no submitted image."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", "scorers"),
        *("--hostname", "scorers@%h", "--concurrency", "1", "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def notices() -> list[str]:
    """The worker that sends mails and calls webhooks, and nothing else. It has no gold, and threads: it only waits."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", "notices"),
        *("--hostname", "notices@%h", "--pool", "threads", "--concurrency", "4", "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def beat() -> list[str]:
    """The clock that rings the sweeper. One is enough; two only ring twice."""
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "beat", "--loglevel", "WARNING"),
        *("--schedule", str(settings.DATA / "beat-schedule"), "--pidfile", ""),
    ]


def sandbox() -> list[str]:
    """The sandbox server, isolated from everything but the socket it listens on."""
    return [sys.executable, "-m", "evaluator.sandbox.process.server", "--socket", settings.SANDBOX_SOCKET]


def command(role: str, *, bind: str) -> list[str]:
    """The command line of one of ROLES."""
    if role == "web":
        return web(bind)
    roles = {"sandbox": sandbox, "worker": worker, "beat": beat, "systems": systems, "scorers": scorers}
    return {**roles, "notices": notices}[role]()


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the children see: our own environment. One thread for linear algebra, since processes share the cores."""
    defaults = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    return {**defaults, **os.environ, **(extra or {})}
