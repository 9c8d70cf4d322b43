"""Free disk space for the site's data, with two thresholds, and errors of a full disk.

Below HOLDOUT_DISK_ALARM_MB the operator is notified, long before anything fails; below a tenth of it the site reports
that it is not ready, because uploads are about to fail.
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
    """Return whether an error means that a file system, or that of the database, has no space left.

    None is no error.
    """
    if isinstance(error, OperationalError):
        return any(words in str(error) for words in ("disk is full", "No space left on device"))
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_refusal() -> Refused:
    """Return the refusal of a request that found the disk full, and log it for the operator."""
    log.error("disk_full")
    return Refused(
        Code.DISK_FULL,
        "The server's disk is full. Nothing from this request was stored, and no quota was used. Tell the operator, "
        "and try again later.",
    )


def free_bytes() -> int:
    """Return the number of bytes that are free for the site's data.

    This is the smaller of two values: the data folder's, and that of its subfolder `files`, which may be on another
    file system.
    """
    folders = (settings.DATA, Path(settings.DATA) / "files")
    return min(shutil.disk_usage(folder).free for folder in folders if Path(folder).is_dir())


def is_low() -> bool:
    """Return whether free space is below HOLDOUT_DISK_ALARM_MB, so that the operator should free some."""
    return free_bytes() < settings.DISK_ALARM_BYTES


def is_full() -> bool:
    """Return whether free space is below a tenth of HOLDOUT_DISK_ALARM_MB, so that storing an upload may fail."""
    return free_bytes() < settings.DISK_ALARM_BYTES * FULL
