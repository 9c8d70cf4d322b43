"""Free disk space for the site's data, with two thresholds, and errors of a full disk.

Below HOLDOUT_DISK_ALARM_MB of free space the operator is notified, long before anything fails; below a tenth of that,
the site reports that it is not ready, because uploads are about to fail.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import structlog
from django.conf import settings
from django.db import OperationalError

from leaderboard.core.refusal import Code, Refused

log = structlog.get_logger(__name__)
FULL = 0.1
"""Fraction of the alarm threshold below which the disk counts as full."""


def is_full_error(error: BaseException | None) -> bool:
    """Return whether an error means that a file system has no space left, here or on the database's host.

    False for None.
    """
    if isinstance(error, OperationalError):
        return any(words in str(error) for words in ("disk is full", "No space left on device"))
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_refusal() -> Refused:
    """Log for the operator that the disk is full, and return the error for the user, to be raised."""
    log.error("disk_full")
    return Refused(
        Code.DISK_FULL,
        "The server's disk is full. Nothing from this request was stored, and no quota was used. Tell the operator, "
        "and try again later.",
    )


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
