"""Free disk space for the site's data, with two thresholds, and errors of a host that cannot write or lacks memory.

Below DISK_ALARM_BYTES of free space the operator is notified, long before anything fails; below a tenth of that,
the site reports that it is not ready, because uploads are about to fail.
"""

from __future__ import annotations

import errno
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import structlog
from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.db import DatabaseError, OperationalError

from evaluator.errors import causes_of
from leaderboard.core.refusal import Code, Refused

log = structlog.get_logger(__name__)
NOTHING_STORED = "Nothing from this request was stored, and no quota was used."
ASK = "Tell the operator, and try again later."
FULL = 0.1
"""Fraction of the alarm threshold below which the disk counts as full."""


PASSING = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
        *(errno.ENFILE, errno.EMFILE, errno.ENOMEM, errno.EAGAIN, errno.EBUSY, errno.ENOLCK),
        *(errno.ENXIO, errno.ENODEV, errno.EREMOTEIO, errno.ENOTCONN, errno.EHOSTDOWN),
        *(errno.ESTALE, errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE),
        *(errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN),
    }
)
"""Codes of errors for which a host or its network is to blame, and which pass without a change of what is done."""
_PASSING_TYPES = (MemoryError, TimeoutError, ConnectionError, socket.gaierror)
"""Errors of the same kind that libraries raise without a code."""
_PASSING_STATES = ("53", "58")
"""Classes of PostgreSQL's SQLSTATEs: insufficient resources, and errors of the operating system."""
PROBE = bytes(1 << 16)
"""What `write_error` writes, for a moment, into each folder."""


def is_passing(error: BaseException | None) -> bool:
    """Return whether an error means that this host, its network or the database's disk lacks something for a while.

    The errors that it wraps (`causes_of`) count, too. False for None.
    """
    return any(map(_is_passing, causes_of(error)))


def _is_passing(error: BaseException) -> bool:
    if is_full_error(error) or is_unwritable_error(error) or isinstance(error, _PASSING_TYPES):
        return True
    match error:
        case OSError():
            return error.errno in PASSING
        case RuntimeError():
            return "can't start new thread" in str(error)
        case DatabaseError():
            state = str(getattr(error.__cause__, "sqlstate", ""))
            return state.startswith(_PASSING_STATES) or "disk I/O error" in str(error)
    return False


def write_error() -> str:
    """Write to each folder that jobs write to, and return the code of an error in PASSING, such as ENOSPC; else "".

    Folders that do not exist or that this process may not use are left out: not each worker needs all of them.
    """
    devices = set()
    for folder in _written_folders():
        try:
            device = folder.stat().st_dev
            if device in devices:
                continue
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(PROBE)
                file.flush()
            devices.add(device)
        except OSError as error:
            if error.errno in PASSING:
                return errno.errorcode[error.errno or 0]
    return ""


def _written_folders() -> Iterator[Path]:
    """Yield the folders of temporary files, of copies of stored files, and of stored files that are local."""
    yield Path(settings.FILE_UPLOAD_TEMP_DIR)
    yield settings.FILE_CACHE
    with suppress(FileNotFoundError):  # no folder for temporary files can be written to, which jobs will say
        yield Path(tempfile.gettempdir())
    for alias in ("predictions", "outcomes"):
        if isinstance(storage := storages[alias], FileSystemStorage):
            yield Path(storage.location)


def is_full_error(error: BaseException | None) -> bool:
    """Return whether an error means that a file system has no space left, here or on the database's host.

    False for None.
    """
    if isinstance(error, OperationalError):
        return any(words in str(error) for words in ("disk is full", "No space left on device"))
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_unwritable_error(error: BaseException | None) -> bool:
    """Return whether an error means that files or the database cannot be written, as on a read-only file system.

    False for None.
    """
    if isinstance(error, DatabaseError):
        is_read_only = getattr(error.__cause__, "sqlstate", None) == "25006"  # PostgreSQL: read-only transaction
        words = ("readonly database", "unable to open database file")
        return is_read_only or any(text in str(error) for text in words)
    return isinstance(error, OSError) and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)


def refusal_of(error: BaseException | None) -> Refused | None:
    """Return the error for the user, to be raised, if the disk is full or cannot be written, which is also logged.

    None for any other error.
    """
    if is_full_error(error):
        return full_refusal()
    if is_unwritable_error(error):
        log.error("disk_unwritable")
        return Refused(
            Code.STORE_UNAVAILABLE, f"The server cannot write to its disk or database. {NOTHING_STORED} {ASK}"
        )
    return None


def full_refusal() -> Refused:
    """Return the error for a full disk, to be raised; it is logged too."""
    log.error("disk_full")
    return Refused(Code.DISK_FULL, f"The server's disk is full. {NOTHING_STORED} {ASK}")


def free_bytes() -> int:
    """Return the number of bytes that are free for the site's data.

    The subfolder `files` of the data folder may be on another file system; the smaller number counts.
    """
    folders = (settings.DATA, Path(settings.DATA) / "files")
    return min(shutil.disk_usage(folder).free for folder in folders if Path(folder).is_dir())


def is_low() -> bool:
    """Return whether free space is below DISK_ALARM_BYTES, so that the operator should free some."""
    return free_bytes() < settings.DISK_ALARM_BYTES


def is_full(*, after: int = 0) -> bool:
    """Return whether free space is below a tenth of DISK_ALARM_BYTES, so that storing an upload may fail.

    after: number of bytes that are to be written first.
    """
    return free_bytes() - after < settings.DISK_ALARM_BYTES * FULL
