"""Local copies of immutable files of a remote store, named by SHA-256 digest, so that jobs do not fetch a file again.

If all copies together exceed FILE_CACHE_BYTES, the least recently used ones are deleted. A process that has such a copy
open can still read it.
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
    """Open the local copy of a remote file for reading; if there is none, open a new file that `fetch` has written.

    sha256: digest of the remote file's content in hexadecimal; empty: neither look for a copy nor keep one. fetch:
    writes the content to the file that it gets. The new file is kept as a copy if its digest is `sha256`.
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
    """Create the folder if it does not exist; return True if this process may write there."""
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
    """Delete the least recently used copies in the folder until the rest have at most FILE_CACHE_BYTES."""
    copies = []
    for path in folder.glob("[!n]*"):  # digests, and not files that are being fetched
        with suppress(FileNotFoundError):  # another process evicts as well
            copies.append((path.stat(), path))
    used = 0
    for stat, path in sorted(copies, key=lambda copy: copy[0].st_mtime, reverse=True):
        used += stat.st_size
        if used > settings.FILE_CACHE_BYTES:
            path.unlink(missing_ok=True)
