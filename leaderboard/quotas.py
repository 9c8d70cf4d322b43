"""Who may submit how often. Counted from charges, so a refund gives the place back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.utils import timezone

from leaderboard.models import Phase, QuotaCharge, Team


@dataclass(frozen=True)
class Quota:
    """What a team has used of a phase's quota; a day is a calendar day in UTC."""

    per_day: int
    total: int
    used_today: int
    used_total: int
    resets_at: datetime

    @property
    def left_today(self) -> int:
        return max(0, min(self.per_day - self.used_today, self.left_total))

    @property
    def left_total(self) -> int:
        return max(0, self.total - self.used_total)


def quota_of(*, phase: Phase, team: Team | None, at: datetime | None = None) -> Quota:
    """The state of a team's quota at a moment; a team that does not exist yet has used nothing."""
    at = at or timezone.now()
    midnight = at.astimezone(timezone.get_default_timezone()).replace(hour=0, minute=0, second=0, microsecond=0)
    used = {"today": 0, "total": 0}
    if team is not None:
        charges = QuotaCharge.objects.filter(phase=phase, team=team, refunded_at=None)
        used = charges.aggregate(total=Count("id"), today=Count("id", filter=Q(charged_at__gte=midnight)))
    return Quota(phase.quota_per_day, phase.quota_total, used["today"], used["total"], midnight + timedelta(days=1))
