"""Tells the operator that the disk runs low: a line in the log at every look, and a mail a day while it lasts."""

from __future__ import annotations

import structlog
from django.conf import settings
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.core.mail import send_mail

from leaderboard.core import disk

log = structlog.get_logger(__name__)
MAILED = "disk-alarm-mailed"
ONE_DAY = 86_400
ONE_HOUR = 3_600
HERE = LocMemCache("disk-alarm", {})
"""This process's own marks: a full disk keeps none in a cache of files."""


def sweep() -> bool:
    """Look, and tell; whether it is low. A mail that cannot be sent is tried again an hour later."""
    free, wanted = disk.free_bytes() // 1_000_000, settings.DISK_ALARM_BYTES // 1_000_000
    if not disk.is_low():
        return False
    log.error("disk_low", free_mb=free, alarm_mb=wanted)
    if settings.OPERATORS and _is_due(again=ONE_DAY):
        _mail(free, wanted)
    return True


def _is_due(*, again: int) -> bool:
    """Whether nothing was mailed yet; the next is due after so many seconds."""
    try:
        return bool(cache.add(MAILED, True, again))
    except OSError:
        return HERE.add(MAILED, True, again)


def _mail(free: int, wanted: int) -> None:
    text = (
        f"{settings.BASE_URL} has {free:,} MB left for its data; the alarm is set to {wanted:,} MB.\n\n"
        f"Below {int(wanted * disk.FULL):,} MB it counts as not ready, and uploads may fail. What may go:\n"
        "python manage.py tidy\n"
    )
    try:
        send_mail(f"Holdout: {free:,} MB left", text, None, settings.OPERATORS)
    except OSError as error:
        log.error("disk_alarm_not_mailed", error=type(error).__name__)
        for marks in (cache, HERE):
            marks.delete(MAILED)
        _is_due(again=ONE_HOUR)
