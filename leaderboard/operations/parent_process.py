"""Termination of a child process when its parent ends, even if the parent is killed, which could not stop the child.

This module is also gunicorn's configuration, for its hooks. Celery ends its pool processes in the same way.
"""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_LIBC = ctypes.CDLL(None, use_errno=True)


def end_with(parent: int) -> None:
    """Make the kernel kill this process when its parent ends. parent: process id; exits if it has already ended.

    The kernel sends SIGKILL: after SIGTERM, a worker would first finish its run, and the web server its requests, which
    takes minutes.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def name(title: str) -> None:
    """Give this process a name, of which `ps` and `top` show 15 characters."""
    _LIBC.prctl(_PR_SET_NAME, title.encode())


def post_fork(arbiter: Any, worker: Any) -> None:
    """Make a new worker process of the web server end when gunicorn's main process ends."""
    end_with(worker.ppid)


def post_worker_init(worker: Any) -> None:
    """Let a worker process of the web server report its code, by which `manage.py migrate` knows of it."""
    from leaderboard.work_queue import process_reports  # the supervisor's processes need no more than this module

    process_reports.report_periodically("web")
