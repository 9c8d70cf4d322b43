"""Alarm for low disk space: an error in the log at each sweep, and a mail to the operators at most once a day."""

from __future__ import annotations

import structlog
from django.conf import settings
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.core.mail import send_mail

from leaderboard.core import disk

log = structlog.get_logger(__name__)
MAILED = "disk-alarm-mailed"
"""Cache key that exists while no further mail is to be sent."""
ONE_DAY = 86_400
ONE_HOUR = 3_600
LOCAL_CACHE = LocMemCache("disk-alarm", {})
"""Cache in this process's memory, used if the site's cache fails: on a full disk a file-based cache stores nothing."""


def sweep() -> bool:
    """Log an error and mail the operators if free disk space is below DISK_ALARM_BYTES.

    Return whether it is below. A mail that cannot be sent is retried after an hour.
    """
    free_mb, alarm_mb = disk.free_bytes() // 1_000_000, settings.DISK_ALARM_BYTES // 1_000_000
    if not disk.is_low():
        return False
    log.error("disk_low", free_mb=free_mb, alarm_mb=alarm_mb)
    if settings.OPERATORS and _is_due(again=ONE_DAY):
        _mail(free_mb, alarm_mb)
    return True


def _is_due(*, again: int) -> bool:
    """Return True if a mail may be sent now; after that, return False for `again` seconds."""
    try:
        return bool(cache.add(MAILED, True, again))
    except OSError:
        return LOCAL_CACHE.add(MAILED, True, again)


def _mail(free_mb: int, alarm_mb: int) -> None:
    text = (
        f"{settings.BASE_URL} has {free_mb:,} MB left for its data; the alarm is set to {alarm_mb:,} MB.\n\n"
        f"Below {int(alarm_mb * disk.FULL):,} MB the site counts as not ready, and uploads may fail. "
        "To list what can be removed:\npython manage.py cleanup\n"
    )
    try:
        send_mail(f"Holdout: {free_mb:,} MB left", text, None, settings.OPERATORS)
    except OSError as error:
        log.error("disk_alarm_mail_failed", error=type(error).__name__)
        for markers in (cache, LOCAL_CACHE):
            markers.delete(MAILED)
        _is_due(again=ONE_HOUR)
