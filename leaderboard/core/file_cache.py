"""Local copies of immutable files of a remote store, found by their SHA-256 digest, so that jobs need not fetch again.

The least recently used copies are deleted when all together exceed FILE_CACHE_BYTES. A process that has a copy open
keeps reading it after that.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.conf import settings


@contextmanager
def opened(sha256: str, fetch: Callable[[IO[bytes]], None]) -> Iterator[IO[bytes]]:
    """Open the local copy with this digest for reading; if there is none, a file to which `fetch` writes the content.

    That file is kept as the copy if its content has the digest. sha256: the digest in hexadecimal; empty: neither look
    for a copy nor keep one.
    """
    folder: Path = settings.FILE_CACHE
    is_cached = bool(sha256) and settings.FILE_CACHE_BYTES > 0 and _is_usable(folder)
    copy = _copy(folder / sha256) if is_cached else None
    if copy is not None:
        with copy:
            yield copy
        return
    with tempfile.NamedTemporaryFile(dir=folder if is_cached else None, prefix="new-") as spool:
        fetch(spool)
        spool.flush()
        spool.seek(0)
        if is_cached and hashlib.file_digest(spool, "sha256").hexdigest() == sha256:
            with suppress(FileExistsError):  # another process has fetched it as well
                os.link(spool.name, folder / sha256)
            _evict(folder)
        # Not the spool itself, which is open for writing: the sandbox refuses such files.
        with Path(spool.name).open("rb") as fetched:
            yield fetched


def _is_usable(folder: Path) -> bool:
    """Create the folder if it does not exist; return False if this process may not write there."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.access(folder, os.W_OK | os.X_OK)


def _copy(path: Path) -> IO[bytes] | None:
    """Open the cached copy at `path`, and set its time of last use to now; return None if there is no such copy."""
    try:
        copy = path.open("rb")
    except FileNotFoundError:
        return None
    os.utime(copy.fileno())
    return copy


def _evict(folder: Path) -> None:
    """Delete the least recently used copies until the rest have at most FILE_CACHE_BYTES."""
    copies = []
    for path in folder.glob("[!n]*"):  # digests, and not files that are being fetched
        with suppress(FileNotFoundError):  # another process evicts as well
            copies.append((path.stat(), path))
    used = 0
    for stat, path in sorted(copies, key=lambda copy: copy[0].st_mtime, reverse=True):
        used += stat.st_size
        if used > settings.FILE_CACHE_BYTES:
            path.unlink(missing_ok=True)
