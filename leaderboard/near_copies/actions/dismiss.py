"""The organisers' word on predictions that are nearly another team's."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, NearCopy, Phase, User


@transaction.atomic
def dismiss(*, near_copy: NearCopy, reason: str, by: User) -> int:
    """Say why the two systems' likeness is no matter; how many open rows of the two it covers. For organisers.

    What is found of them later is shown again.
    """
    if not near_copy.phase.benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "Only the benchmark's organisers may do that.")
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= 300:
        raise Refused(Code.INVALID_NAME, f"The reason has {len(reason)} characters; expected 1 to 300.")
    a, b = near_copy.a.submission.system_id, near_copy.b.submission.system_id
    told = {"dismissed_at": timezone.now(), "dismissed_by": by, "reason": reason}
    covered = open_between(near_copy.phase, a, b).update(**told)
    AuditEntry.record("near_copy.dismissed", near_copy, by=by, systems=[a, b], reason=reason, rows=covered)
    return covered


def open_between(phase: Phase, a: int, b: int) -> Any:
    """What is not dismissed of two systems, in either order, as a queryset."""
    either = Q(a__submission__system=a, b__submission__system=b) | Q(a__submission__system=b, b__submission__system=a)
    return NearCopy.objects.filter(either, phase=phase, dismissed_at=None)
