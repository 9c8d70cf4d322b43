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
    """Return the free bytes of the fullest file system: of the data folder, or of `files`, which may be a mount."""
    folders = (settings.DATA, Path(settings.DATA) / "files")
    return min(shutil.disk_usage(folder).free for folder in folders if Path(folder).is_dir())


def is_low() -> bool:
    """Return whether the operator should free disk space."""
    return free_bytes() < settings.DISK_ALARM_BYTES


def is_full() -> bool:
    """Return whether storing an upload may fail."""
    return free_bytes() < settings.DISK_ALARM_BYTES * FULL
