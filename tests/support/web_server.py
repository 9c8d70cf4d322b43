"""The product's web server on the test's database: two processes with eight threads each."""

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
    """The server's address, and its main process, whose children handle requests."""

    address: str
    pid: int


@contextmanager
def served(**environment: str) -> Iterator[Site]:
    """Start gunicorn. Its socket listens from the start, so early requests wait instead of failing."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        port = listening.getsockname()[1]
        process = subprocess.Popen(
            processes.web(f"fd://{listening.fileno()}"),
            cwd=settings.ROOT,
            env=running_stack.environment(**environment),
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
        )
        try:
            yield Site(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()
            process.wait(30)
