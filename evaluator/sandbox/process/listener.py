"""The server's socket. One server at a time may use its path, and only processes of the server's user may connect."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from evaluator.errors import SandboxError

BACKLOG = 256
_MOST_BYTES = 107  # the maximum length of a socket's path (sockaddr_un)


@contextlib.contextmanager
def address(path: Path) -> Iterator[str]:
    """Yield the path as text, or if it is too long for a socket, a short equivalent that is valid in this process."""
    if len(os.fsencode(path)) <= _MOST_BYTES:
        yield os.fspath(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listen(path: Path) -> socket.socket:
    """Return a listening Unix socket (SOCK_SEQPACKET) at `path`, to which only this user may connect.

    A lock file next to the socket is held as long as this process and its forks exist. A socket without a held lock is
    left over from a dead server, and is replaced. Raises SandboxError if another server holds the lock, or if the
    socket or the lock file cannot be created.
    """
    lock = _lock(path.with_name(path.name + ".lock"))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    before = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)
        with address(path) as short:
            listener.bind(short)
        listener.listen(BACKLOG)
    except OSError as problem:
        listener.close()
        os.close(lock)
        raise SandboxError(f"{path}: a socket cannot be created here: {problem.strerror or problem}") from None
    finally:
        os.umask(before)
    return listener


def _lock(path: Path) -> int:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        raise SandboxError(f"{path}: cannot be opened: {problem.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise SandboxError(f"{path}: another sandbox server uses this socket; stop it first") from None
    return lock
