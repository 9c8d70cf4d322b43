"""End of a child process with its parent, even if the parent is killed: otherwise the child would go on unsupervised.

This is also gunicorn's configuration, for its hook `post_fork`. Celery does the same for the processes of its pools.
"""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def end_with(parent: int) -> None:
    """Make the kernel kill this process when the process `parent` ends, which has just forked it.

    The kernel sends SIGKILL: after SIGTERM, a worker would first finish its run, and the web server its requests, which
    takes minutes.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def post_fork(arbiter: Any, worker: Any) -> None:
    """End a new process of the web server with gunicorn's main process."""
    end_with(worker.ppid)
