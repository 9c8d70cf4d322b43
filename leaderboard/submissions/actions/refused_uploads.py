"""Limit on the processor time that a user's refused uploads, and files that were only checked, take within an hour.

Uploads are predictions and gold. These files cost no quota, so nothing else limits them. Accepted files do not count,
and neither do files that could not be checked because of an error of the server. The seconds that each file took are
stored in the audit trail, which all web processes read.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Model
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, User

WITHIN = timedelta(hours=1)
ACTIONS = ("submission.refused", "submission.checked", "gold.refused")


def check(*, by: User) -> None:
    """Raise Refused THROTTLED if checks of the user's files took more processor time than allowed in the last hour.

    Counted are refused uploads and files that were only checked; the limit is the setting REFUSED_SECONDS. Call before
    a file is sent to the sandbox. Files that are checked at the same time may together exceed the limit once.
    """
    since = timezone.now() - WITHIN
    rows = AuditEntry.objects.filter(actor=by, action__in=ACTIONS, at__gt=since).order_by("at")
    costs = [(at, seconds or 0.0) for at, seconds in rows.values_list("at", "detail__cpu_seconds")]
    used, limit = sum(seconds for _, seconds in costs), settings.REFUSED_SECONDS
    if used <= limit:
        return
    left, retry_at = used, None
    for at, seconds in costs:
        left, retry_at = left - seconds, at + WITHIN
        if left <= limit:
            break
    raise Refused(
        Code.THROTTLED,
        f"Your refused and checked files of the last hour took {used:.0f} seconds of the server's processor time, "
        f"expected at most {limit}. Nothing was submitted, and no quota was used. Check your files with "
        f"`holdout-eval` on your machine, and upload again at {retry_at:%H:%M} UTC or later.",
        retry_at=retry_at,
    )


def record(action: str, subject: Model, *, by: User, reason: str, cpu_seconds: float) -> None:
    """Store in the audit trail that a user's file was refused, or was only checked.

    action: one of ACTIONS. subject: the row for which the file was sent, such as the phase. reason: the Reason for the
    refusal; empty if the file is valid. cpu_seconds: processor time that the file's check took in the sandbox.
    """
    assert action in ACTIONS, action
    AuditEntry.record(action, subject, by=by, reason=reason, cpu_seconds=round(cpu_seconds, 3))
