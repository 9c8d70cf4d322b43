"""The server's socket: one owner at a time, and nobody but its user may connect."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from evaluator.errors import SandboxError

BACKLOG = 256
_MOST_BYTES = 107  # of a socket's path: sockaddr_un


def listen(path: Path) -> socket.socket:
    """A SEQPACKET socket at `path`, mode 0600. A lock beside it tells a live server's socket from a stale one.

    The lock lasts as long as this process and those it forks. Raises SandboxError.
    """
    if len(os.fsencode(path)) > _MOST_BYTES:
        raise SandboxError(f"{path}: a socket's path may have {_MOST_BYTES} bytes, choose a shorter folder")
    lock = _lock(path.with_name(path.name + ".lock"))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    before = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)
        listener.bind(os.fspath(path))
        listener.listen(BACKLOG)
    except OSError as problem:
        listener.close()
        os.close(lock)
        raise SandboxError(f"{path}: no socket can be made here: {problem.strerror}") from None
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
        raise SandboxError(f"{path}: another sandbox server has this socket; stop it first") from None
    return lock
