"""The site's processes and their command lines, which are the same for `bin/serve` and a deployment in containers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

ROLES = ("sandbox", "web", "worker", "beat", "systems", "systems-gpu", "scorers", "notifications")

MAX_SYSTEMS = 16
"""The most processes of a worker that runs submitted containers."""


def web(bind: str) -> list[str]:
    """Return the command line of the web server, gunicorn. bind: `HOST:PORT`, or `fd://N` for an open socket.

    Its worker processes have threads, because a request may wait for the sandbox; slow clients occupy no thread. The
    application is loaded before the server listens: otherwise a proxy would send requests to a server that is starting.
    """
    return [
        *(sys.executable, "-m", "gunicorn", "leaderboard.wsgi:application"),
        *("--config", "python:leaderboard.operations.parent_process"),
        *("--preload", "--bind", bind, "--worker-class", "leaderboard.operations.web_worker.BufferingWorker"),
        *("--workers", "2", "--threads", "8"),
        # gunicorn's heartbeat files: on a disk that is busy with an upload they would make a worker seem to hang.
        *("--worker-tmp-dir", "/dev/shm" if Path("/dev/shm").is_dir() else "/tmp"),  # noqa: S108
        *("--timeout", "120", "--graceful-timeout", "10", "--no-control-socket"),
    ]


def worker(*, concurrency: int = 2) -> list[str]:
    """Return the command line of the worker that scores predictions. concurrency: number of processes."""
    return _celery("scoring", concurrency=concurrency)


def systems() -> list[str]:
    """Return the command line of the worker that runs submitted containers, as many at a time as its host has room for.

    It has access to the container engine, and needs no access to gold.
    """
    # Placement decides what runs; more processes than containers of the usual size fit would only wait.
    processes = max(1, int((settings.ENGINE_CPUS or os.cpu_count() or 1) / settings.SYSTEM_CPUS))
    return _celery("systems", concurrency=min(processes, MAX_SYSTEMS))


def systems_gpu() -> list[str]:
    """Return the command line of the worker that runs submitted containers with GPUs, one at a time.

    A host whose GPUs should serve several containers at once runs this process several times.
    """
    return _celery("systems-gpu", name=f"systems-gpu-{os.getpid()}")


def scorers() -> list[str]:
    """Return the command line of the worker that runs custom scorers, one at a time.

    It has access to the container engine and to gold, but runs no submitted image.
    """
    return _celery("scorers")


def notifications() -> list[str]:
    """Return the command line of the worker that sends mails and calls webhooks.

    The worker needs no access to gold, and uses threads, since it mostly waits.
    """
    return _celery("notifications", "--pool", "threads", concurrency=4)


def _celery(queues: str, *options: str, name: str = "", concurrency: int = 1) -> list[str]:
    """Return the command line of a Celery worker for `queues`, names with commas between.

    options: further arguments. name: of the worker on its host; empty: `queues`. concurrency: number of processes or
    threads. Celery's gossip and heartbeats are off: the state of work is in the database.
    """
    return [
        *(sys.executable, "-m", "celery", "-A", "leaderboard.jobs", "worker", "--queues", queues),
        *("--hostname", f"{name or queues}@%h", *options, "--concurrency", str(concurrency), "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def beat() -> list[str]:
    """Return the command line of the process that calls the sweep periodically.

    The process needs no access to gold. Several at the same time are harmless.
    """
    return [sys.executable, "-m", "leaderboard.beat"]


def sandbox() -> list[str]:
    """Return the command line of the sandbox server, which can reach nothing but its listening socket."""
    return [sys.executable, "-m", "evaluator.sandbox.process.server", "--socket", settings.SANDBOX_SOCKET]


_COMMANDS = {
    "sandbox": sandbox,
    "worker": worker,
    "beat": beat,
    "systems": systems,
    "systems-gpu": systems_gpu,
    "scorers": scorers,
    "notifications": notifications,
}


def command(role: str, *, bind: str = "") -> list[str]:
    """Return the command line of the process `role`, one of ROLES. bind: for the role `web`, see `web`."""
    return web(bind) if role == "web" else _COMMANDS[role]()


def is_on(role: str) -> bool:
    """Return whether the settings let the process `role`, one of ROLES, run."""
    switches = {
        "systems": settings.SYSTEMS,
        "systems-gpu": settings.SYSTEMS and settings.GPUS,
        "scorers": settings.SCORERS,
        "notifications": settings.NOTIFICATIONS,
    }
    return bool(switches.get(role, True))


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment variables of child processes: defaults, then this process's, then `extra`.

    Later ones take precedence. By default each process uses one thread for linear algebra, since several processes
    share the cores, and Celery's workers do not repeat Django's system checks, which `manage.py` has already made.
    """
    defaults = {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
        "CELERY_SKIP_CHECKS": "1",
    }
    return {**defaults, **os.environ, **(extra or {})}
