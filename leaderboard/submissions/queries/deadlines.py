"""Deadlines of phases, including extensions of single teams."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from leaderboard.models import Extension, Phase, Team, User


def closes_at(phase: Phase, team: Team | None = None) -> datetime | None:
    """Return the deadline for a team (inclusive), or without one the phase's; None: the phase stays open."""
    if phase.closes_at is None or team is None or team.pk is None:
        return phase.closes_at
    own = Extension.objects.filter(phase=phase, team=team).order_by("-closes_at").first()
    return max(phase.closes_at, own.closes_at) if own else phase.closes_at


def is_open(phase: Phase, *, team: Team | None = None, at: datetime | None = None) -> bool:
    """Return whether a submission of the team received at `at` (default: now) is in time."""
    at = at or timezone.now()
    if not phase.is_in_use:
        return False
    if phase.is_open(at) or phase.is_to_come(at):
        return phase.is_open(at)
    end = closes_at(phase, team)
    return end is not None and at <= end


def own_time(phase: Phase, user: User) -> list[Extension]:
    """Return the extensions of the user's teams beyond the phase's own deadline."""
    if phase.closes_at is None:
        return []
    rows = Extension.objects.filter(phase=phase, team__members=user, closes_at__gt=phase.closes_at)
    return list(rows.select_related("team").order_by("team__name", "closes_at"))


def is_open_to(phase: Phase, user: User, at: datetime | None = None) -> bool:
    """Return whether any team of the user may submit at `at` (default: now)."""
    at = at or timezone.now()
    if not phase.is_in_use:
        return False
    if phase.is_open(at) or phase.is_to_come(at):
        return phase.is_open(at)
    return Extension.objects.filter(phase=phase, team__members=user, closes_at__gte=at).exists()
