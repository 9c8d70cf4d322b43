"""Functions with which `manage.py serve` runs the whole site: lock, port, static files, child processes and logs."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluator.errors import SandboxError
from evaluator.sandbox.process import launch
from evaluator.tasks.registry import import_paths
from leaderboard import environment
from leaderboard.operations import forks, processes
from leaderboard.operations.supervisor import CannotStart, Child

MAX_LOG_BYTES = 10_000_000
"""Size above which a child's log is rotated when the child starts."""


@contextmanager
def locked(data: Path) -> Iterator[IO[str]]:
    """Lock the data folder during the `with` block, so that only one instance of the site uses the folder.

    Yields the locked file, which child processes close.

    Raises CommandError, with the process id of the other instance, if another instance holds the lock.
    """
    with (data / "serve.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CommandError(
                f"{data} is already served by process {lock.read().strip() or '?'}. "
                "Stop that process, or run this site in another folder: HOLDOUT_DATA=var2 bin/serve --port 8001"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens on `host` and `port` during the `with` block, while the web server may restart.

    Raises CommandError, with the reason and a port to try, if host and port cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        raise CommandError(
            f"cannot listen on {host} port {port}: {error}. Choose another port: bin/serve --port {port % 60_000 + 1}"
        ) from error
    with listener:
        yield listener


def url(listener: socket.socket) -> str:
    """Return the URL at which a browser on this machine finds the site that listens on the socket.

    If the socket listens on all addresses, the URL has the loopback address.
    """
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{host}:{port}/"


@contextmanager
def announced(data: Path, address: str) -> Iterator[None]:
    """Store the site's URL `address` in the data folder during the `with` block.

    The function `address` reads the URL in other processes.
    """
    file = data / "address"
    file.write_text(address)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def address(data: Path) -> str:
    """Return the site's URL without a trailing slash.

    That is HOLDOUT_BASE_URL if it is set, else the URL of the running instance with the data folder `data`, else the
    default of settings.BASE_URL.
    """
    file = data / "address"
    if os.environ.get("HOLDOUT_BASE_URL") or not file.is_file():
        return str(settings.BASE_URL)
    return file.read_text().rstrip("/")


def use_address(address: str) -> None:
    """Make this process and its children use the site's URL `address`, unless HOLDOUT_BASE_URL is set."""
    if "HOLDOUT_BASE_URL" not in os.environ:
        os.environ["HOLDOUT_BASE_URL"] = address
        for name, value in environment.address_settings(address).items():
            setattr(settings, name, value)


def start_sandbox(say: Callable[[str], None] = lambda line: None) -> subprocess.Popen[bytes]:
    """Start the sandbox server and return its process when it is ready for clients. Raises CannotStart.

    say: called with a line for the operator while it takes long.
    """
    with _log("sandbox") as output:
        try:
            return launch.start(settings.SANDBOX_SOCKET, paths=import_paths(), stderr=output.fileno(), say=say)
        except SandboxError as error:
            raise CannotStart(f"the sandbox cannot be started: {error}") from None


def children(
    lock: IO[str], listener: socket.socket, sandbox: Future[subprocess.Popen[bytes]], say: Callable[[str], None]
) -> list[Child]:
    """Return the site's child processes in the order in which to start them, without those that are switched off.

    lock, listener: of this process. sandbox: the sandbox server that is being started. say: as for `start_sandbox`.
    """
    workers = ("worker", "beat", "notifications", "systems", "systems-gpu", "scorers")
    first = [sandbox]
    server = Child("sandbox", lambda: first.pop().result() if first else start_sandbox(say), needed_by_others=True)

    def starts(role: str, command: list[str], *close: Callable[[], object]) -> Child:
        def start() -> forks.Fork:
            # The sandbox server ends when the last process closes its standard input.
            stdin = server.process.stdin if isinstance(server.process, subprocess.Popen) else None
            with _log(role) as output:
                try:
                    return forks.start(
                        role,
                        partial(forks.run_module, command),
                        output=output.fileno(),
                        close=(*close, lock.close, *((stdin.close,) if stdin else ())),
                    )
                except OSError as error:
                    raise CannotStart(f"{role} cannot be started: {error}") from None

        return Child(role, start)

    return [
        server,
        starts("web", processes.web(f"fd://{listener.fileno()}")),
        *(starts(role, processes.command(role), listener.close) for role in workers if processes.is_on(role)),
    ]


class FirstResponse:
    """The first response of the web server, requested before the server is up.

    `socket` becomes readable when the response arrives.
    """

    def __init__(self, listener: socket.socket) -> None:
        family, (host, port) = listener.family, listener.getsockname()[:2]
        loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        # The kernel accepts the connection on the listening socket; gunicorn responds once it is up.
        self.socket.connect((loopback, port))
        self.socket.sendall(b"GET /health/live HTTP/1.0\r\nHost: localhost\r\n\r\n")
        self.socket.setblocking(False)

    def came(self) -> bool:
        try:
            self.socket.recv(1)
        except BlockingIOError:
            return False
        return True

    def __enter__(self) -> FirstResponse:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()


def logs() -> Path:
    """Return the folder of the child processes' logs, which is created if needed.

    `NAME.log` is the log of the process NAME, and `NAME.log.1` the one before it was last rotated.
    """
    folder: Path = settings.DATA / "log"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def collect_static() -> None:
    """Run Django's `collectstatic` if any static file has changed since it was last run here."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            digest.update(f"{path}\0".encode() + hashlib.sha256(Path(storage.path(path)).read_bytes()).digest())
    stamp = settings.STATIC_ROOT / ".collected"
    if not stamp.is_file() or stamp.read_text() != digest.hexdigest():
        call_command("collectstatic", verbosity=0, interactive=False)
        stamp.write_text(digest.hexdigest())


def wants_seed() -> bool:
    """Return True if the demonstration (`manage.py seed`) is to be created at this start.

    That is the case if the site uses the SQLite database of its data folder, and no earlier creation has completed.
    """
    return not os.environ.get("HOLDOUT_DATABASE_URL") and not (settings.DATA / "seeded").exists()


def mark_seeded() -> None:
    (settings.DATA / "seeded").touch()


AFTER_READY = {"--audits": "audited", "--systems": "systems-submitted"}
"""Steps of the demonstration that take long, and are done when the site is ready: option of `manage.py seed` -> name of
the file in the data folder that marks the step as done."""


def remaining_steps() -> list[str]:
    """Return the options of AFTER_READY whose step is not done yet.

    Empty without a demonstration in the SQLite database of the data folder.
    """
    if os.environ.get("HOLDOUT_DATABASE_URL") or not (settings.DATA / "seeded").exists():
        return []
    return [option for option, mark in AFTER_READY.items() if not (settings.DATA / mark).exists()]


def mark_done(option: str) -> None:
    """Mark a step of the demonstration as done. option: a key of AFTER_READY."""
    (settings.DATA / AFTER_READY[option]).touch()


def _log(name: str) -> IO[bytes]:
    """Open the log of the child process `name` for appending; if it exceeds MAX_LOG_BYTES, first rotate the log."""
    log = logs() / f"{name}.log"
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    return log.open("ab")
