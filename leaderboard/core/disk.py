"""Free disk space for the site's data, with two thresholds.

Below HOLDOUT_DISK_ALARM_MB the operator is notified, long before anything fails; below a tenth of it the site reports
that it is not ready, because uploads are about to fail.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

FULL = 0.1
"""Fraction of the alarm threshold below which the disk counts as full."""


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
