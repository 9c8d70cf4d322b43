"""Until when a phase takes what: of everybody, and of a team that was given more time."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from leaderboard.models import Extension, Phase, Team, User


def closes_at(phase: Phase, team: Team | None = None) -> datetime | None:
    """The end for this team, a moment that still belongs to the phase; None: it stays open."""
    if phase.closes_at is None or team is None or team.pk is None:
        return phase.closes_at
    own = Extension.objects.filter(phase=phase, team=team).order_by("-closes_at").first()
    return max(phase.closes_at, own.closes_at) if own else phase.closes_at


def is_open(phase: Phase, *, team: Team | None = None, at: datetime | None = None) -> bool:
    """Whether something of this team that the server receives at `at` is in time."""
    at = at or timezone.now()
    if not phase.is_in_use:
        return False
    if phase.is_open(at) or phase.is_to_come(at):
        return phase.is_open(at)
    end = closes_at(phase, team)
    return end is not None and at <= end


def own_time(phase: Phase, user: User) -> list[Extension]:
    """Extensions that teams of this person have, beyond the phase's own end."""
    if phase.closes_at is None:
        return []
    rows = Extension.objects.filter(phase=phase, team__members=user, closes_at__gt=phase.closes_at)
    return list(rows.select_related("team").order_by("team__name", "closes_at"))


def is_open_to(phase: Phase, user: User, at: datetime | None = None) -> bool:
    """Whether some team of this person may still send something."""
    at = at or timezone.now()
    if not phase.is_in_use:
        return False
    if phase.is_open(at) or phase.is_to_come(at):
        return phase.is_open(at)
    return Extension.objects.filter(phase=phase, team__members=user, closes_at__gte=at).exists()
