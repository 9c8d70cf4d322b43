"""Free disk space for the site's data, with two thresholds, and errors of a disk that is full or cannot be written.

Below HOLDOUT_DISK_ALARM_MB of free space the operator is notified, long before anything fails; below a tenth of that,
the site reports that it is not ready, because uploads are about to fail.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import structlog
from django.conf import settings
from django.db import DatabaseError, OperationalError

from leaderboard.core.refusal import Code, Refused

log = structlog.get_logger(__name__)
NOTHING_STORED = "Nothing from this request was stored, and no quota was used."
ASK = "Tell the operator, and try again later."
FULL = 0.1
"""Fraction of the alarm threshold below which the disk counts as full."""


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
        log.error("disk_full")
        return Refused(Code.DISK_FULL, f"The server's disk is full. {NOTHING_STORED} {ASK}")
    if is_unwritable_error(error):
        log.error("disk_unwritable")
        return Refused(
            Code.STORE_UNAVAILABLE, f"The server cannot write to its disk or database. {NOTHING_STORED} {ASK}"
        )
    return None


def free_bytes() -> int:
    """Return the number of bytes that are free for the site's data.

    The subfolder `files` of the data folder may be on another file system; the smaller number counts.
    """
    folders = (settings.DATA, Path(settings.DATA) / "files")
    return min(shutil.disk_usage(folder).free for folder in folders if Path(folder).is_dir())


def is_low() -> bool:
    """Return whether free space is below HOLDOUT_DISK_ALARM_MB, so that the operator should free some."""
    return free_bytes() < settings.DISK_ALARM_BYTES


def is_full() -> bool:
    """Return whether free space is below a tenth of HOLDOUT_DISK_ALARM_MB, so that storing an upload may fail."""
    return free_bytes() < settings.DISK_ALARM_BYTES * FULL
