"""Tells the operator that the disk runs low: a line in the log at every look, and a mail a day while it lasts."""

from __future__ import annotations

import structlog
from django.conf import settings
from django.core.cache import cache
from django.core.mail import send_mail

from leaderboard import disk

log = structlog.get_logger(__name__)
MAILED = "disk-alarm-mailed"
ONE_DAY = 86_400


def sweep() -> bool:
    """Look, and tell; whether it is low. Never raises: an alarm that cannot be sent must not stop the sweeper."""
    free, wanted = disk.free_bytes() // 1_000_000, settings.DISK_ALARM_BYTES // 1_000_000
    if not disk.is_low():
        return False
    log.error("disk_low", free_mb=free, alarm_mb=wanted)
    if settings.OPERATORS:
        _mail(free, wanted)
    return True


def _mail(free: int, wanted: int) -> None:
    try:
        # A full disk cannot keep the mark in a cache of files; then a mail too many is better than none.
        if not cache.add(MAILED, free, ONE_DAY):
            return
    except OSError:
        pass
    text = (
        f"{settings.BASE_URL} has {free:,} MB left for its data; the alarm is set to {wanted:,} MB.\n\n"
        f"Below {int(wanted * disk.FULL):,} MB it counts as not ready, and uploads may fail. What may go:\n"
        "python manage.py tidy\n"
    )
    try:
        send_mail(f"Holdout: {free:,} MB left", text, None, settings.OPERATORS)
    except OSError as error:
        log.error("disk_alarm_not_mailed", error=type(error).__name__)
