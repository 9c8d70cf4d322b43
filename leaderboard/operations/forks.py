"""Child processes that begin with all that this process has imported: they start at once, and share its memory."""

from __future__ import annotations

import gc
import os
import runpy
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections
from django.urls import get_resolver

from leaderboard.operations import parent_process, processes

SHARED = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.concurrency.thread",
    "gunicorn.app.wsgiapp",
    "leaderboard.core.folder_broker",
    "leaderboard.jobs",
    "leaderboard.management.commands.seed",
    "leaderboard.operations.web_worker",
)
"""Modules that the site's processes import, with the modules that these import."""


class Fork:
    """A child process, with as much of the interface of Popen as the supervisor uses."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self) -> int | None:
        return self._reap(0)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def load() -> None:
    """Import what children use. Objects loaded so far are frozen: a child's collector would copy their pages."""
    for module in SHARED:
        import_module(module)
    _ = get_resolver().url_patterns
    gc.collect()
    gc.freeze()


def start(name: str, run: Callable[[], object], *, output: int, close: Sequence[Callable[[], object]] = ()) -> Fork:
    """Start a child process that calls `run` and then ends, and that ends with this one.

    name: of the process, as `ps` shows it. output: descriptor of the child's standard output and error. close: called
    in the child, to close what only this process uses. Raises OSError if there can be no further process. This process
    must have a single thread.
    """
    connections.close_all()
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if not pid:
        _be_child(name, run, parent, output, close)
    return Fork(pid)


def run_module(command: Sequence[str]) -> None:
    """Run a command line of `processes`, `PYTHON -m MODULE ARGUMENTS`, in this process."""
    sys.argv = list(command[2:])
    os.environ.update(processes.environment())
    runpy.run_module(command[2], run_name="__main__", alter_sys=True)


def _be_child(
    name: str, run: Callable[[], object], parent: int, output: int, close: Sequence[Callable[[], object]]
) -> NoReturn:
    status = 1
    try:
        os.setsid()
        parent_process.name(f"holdout-{name}")
        parent_process.end_with(parent)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for action in close:
            action()
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.chdir(settings.ROOT)
        run()
        status = 0
    except SystemExit as error:
        if isinstance(error.code, str):
            sys.stderr.write(f"{error.code}\n")
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except CommandError as error:
        sys.stderr.write(f"CommandError: {error}\n")
    except BaseException:  # noqa: BLE001  the frames below are those of the parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
