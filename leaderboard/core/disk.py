"""How much room is left where the site keeps its data, and when that is too little.

Two levels: at HOLDOUT_DISK_ALARM_MB the operator is told, long before anything fails; at a tenth of it the site counts
as not ready, because uploads are about to fail.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

FULL = 0.1
"""The share of the alarm's level below which nothing more can be taken."""


def free_bytes() -> int:
    """On the fullest of the file systems with data: the data folder's, and that of the files, which may be mounted."""
    places = (settings.DATA, Path(settings.DATA) / "files")
    return min(shutil.disk_usage(place).free for place in places if Path(place).is_dir())


def is_low() -> bool:
    """Whether the operator should make room."""
    return free_bytes() < settings.DISK_ALARM_BYTES


def is_full() -> bool:
    """Whether an upload cannot be counted on to be stored."""
    return free_bytes() < settings.DISK_ALARM_BYTES * FULL
