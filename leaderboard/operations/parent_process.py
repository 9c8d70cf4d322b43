"""End of a process with its parent, even if the parent is killed: otherwise pool processes would score on unsupervised.

Also gunicorn's configuration: its hook `post_fork`.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import threading

MAIN = os.getpid()
"""Process that imported this module: gunicorn's or Celery's main process, which forks the others."""
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def end_with(parent: int) -> None:
    """Make the kernel kill this process when `parent`, which has just forked it, ends. For `preexec_fn` of Popen.

    The kernel does so when the parent's *thread* ends that forked, so it has to be one that lasts.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end_with_main() -> None:
    """Make this process end when MAIN ends, which has forked it, in any of its threads. Does nothing in MAIN itself."""
    if os.getpid() == MAIN:
        return
    try:
        descriptor = os.pidfd_open(MAIN)
    except ProcessLookupError:
        os._exit(1)
    if os.getppid() != MAIN:
        os._exit(1)
    threading.Thread(target=_kill_after, args=(descriptor,), daemon=True, name="end-with-main").start()


def _kill_after(descriptor: int) -> None:
    select.select([descriptor], [], [])  # a process that has ended makes its descriptor readable
    os.kill(os.getpid(), signal.SIGKILL)


def post_fork(arbiter: object, worker: object) -> None:
    """Be called by gunicorn in each new worker process."""
    end_with_main()
