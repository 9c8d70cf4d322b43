"""The product's own web server over the test's database: two processes with eight threads each."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from leaderboard.operations import processes
from tests.support.workers import running_stack


@dataclass(frozen=True)
class Site:
    """Where the server answers, and its process, whose children do the work."""

    address: str
    pid: int


@contextmanager
def served() -> Iterator[Site]:
    """A gunicorn. Its socket listens from the start, so early requests wait instead of failing."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        port = listening.getsockname()[1]
        process = subprocess.Popen(
            processes.web(f"fd://{listening.fileno()}"),
            cwd=settings.ROOT,
            env=running_stack.environment(),
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
        )
        try:
            yield Site(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()
            process.wait(30)
