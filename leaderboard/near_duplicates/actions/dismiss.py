"""Dismissal of near-duplicate predictions by organisers."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, NearDuplicate, Phase, User


@transaction.atomic
def dismiss(*, near_duplicate: NearDuplicate, reason: str, by: User) -> int:
    """Dismiss all open near-duplicates between the two systems of `near_duplicate`; return their number.

    reason: 1 to 300 characters, shown to organisers only. Near-duplicates of the two systems that are found later are
    shown again. Raises Refused: NOT_AN_ORGANISER; INVALID_REASON for an empty or longer reason.
    """
    check_manages(near_duplicate.phase.benchmark, by)
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= 300:
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; expected 1 to 300.")
    a, b = near_duplicate.a.submission.system_id, near_duplicate.b.submission.system_id
    fields = {"dismissed_at": timezone.now(), "dismissed_by": by, "reason": reason}
    covered = open_between(near_duplicate.phase, a, b).update(**fields)
    AuditEntry.record("near_duplicate.dismissed", near_duplicate, by=by, systems=[a, b], reason=reason, rows=covered)
    return covered


def open_between(phase: Phase, a: int, b: int) -> Any:
    """Return a queryset of the near-duplicates between two systems in a phase that are not dismissed.

    a, b: ids of the systems, in either order.
    """
    either = Q(a__submission__system=a, b__submission__system=b) | Q(a__submission__system=b, b__submission__system=a)
    return NearDuplicate.objects.filter(either, phase=phase, dismissed_at=None)
