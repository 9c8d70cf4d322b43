"""A PostgreSQL server of a test's own, on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

PATIENCE = 120.0
BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/nowhere"))

needs_postgresql = pytest.mark.skipif(
    not (BIN / "initdb").exists(), reason="needs the programs of PostgreSQL: apt-get install postgresql"
)
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="needs a PostgreSQL server: apt-get install postgresql, then HOLDOUT_DATABASE_URL=postgres://...",
)


@dataclass
class Server:
    """A running server. process: `postgres`. command: that started it."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes]
    command: list[str]

    def url(self, name: str = "holdout") -> str:
        return f"postgres://holdout@127.0.0.1:{self.port}/{name}"

    def execute(self, statement: str, *, name: str = "postgres") -> Any:
        """Execute a statement outside a transaction; return the first column of its first row, if it has any."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGQUIT)  # PostgreSQL's immediate shutdown
        self.process.wait()

    def start_again(self) -> None:
        """Start a killed server, and wait until it responds: it recovers first."""
        self.process = _started(self.command, self.folder / "log")
        _connect(self, self.folder / "log")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _unprivileged() -> list[str]:
    """Return the command prefix with which root runs PostgreSQL's programs: they refuse to run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="holdout-postgresql-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, "postgres", "postgres")
        yield Path(name)


def _connect(server: Server, log: Path) -> None:
    def answers() -> bool:
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            assert server.process.poll() is None, log.read_text(errors="replace")[-4000:]
            return False
        return True

    eventually(answers)


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


@contextmanager
def _running(command: list[str], folder: Path, port: int) -> Iterator[Server]:
    server = Server(port, folder, _started(command, folder / "log"), command)
    try:
        _connect(server, folder / "log")
        yield server
    finally:
        server.kill()


def _started(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            [*_unprivileged(), *command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )


def _postgres(data: Path, port: int, *, durable: bool = False) -> list[str]:
    fast = () if durable else ("fsync=off", "full_page_writes=off")
    chosen = (*fast, "jit=off", "listen_addresses=127.0.0.1", "max_connections=150")
    options = [word for setting in (*chosen, f"unix_socket_directories={data.parent}") for word in ("-c", setting)]
    return [str(BIN / "postgres"), "-D", str(data), "-p", str(port), *options]


@contextmanager
def server(*, durable: bool = False) -> Iterator[Server]:
    """Run a server with an empty database `holdout`. durable: True to survive being killed, as it does by default."""
    with _folder() as folder:
        data, port = folder / "data", _free_port()
        initdb = [str(BIN / "initdb"), "-D", str(data), "-U", "holdout", "--auth=trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([*_unprivileged(), *initdb], check=True, stdout=subprocess.DEVNULL)
        with _running(_postgres(data, port, durable=durable), folder, port) as primary:
            primary.execute("CREATE DATABASE holdout")
            yield primary
