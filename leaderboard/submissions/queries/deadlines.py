"""Deadlines of phases, and extensions of them for single teams."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from leaderboard.models import Extension, Phase, Team, User


def closes_at(phase: Phase, team: Team | None = None) -> datetime | None:
    """Return the deadline (inclusive) of a phase for a team: the end of the team's latest extension, if it has one.

    team: None for teams without an extension. Returns None if the phase has no deadline.
    """
    if phase.closes_at is None or team is None or team.pk is None:
        return phase.closes_at
    own = Extension.objects.filter(phase=phase, team=team).order_by("-closes_at").first()
    return max(phase.closes_at, own.closes_at) if own else phase.closes_at


def is_open(phase: Phase, *, team: Team | None = None, at: datetime | None = None) -> bool:
    """Return whether the phase accepts a submission of the team at `at` (default: now).

    A phase whose split is in use (`Phase.is_in_use`) accepts submissions between its opening and closing dates, and
    then until the end of the team's extension. team: None for a team without an extension.
    """
    at = at or timezone.now()
    if not phase.is_in_use:
        return False
    if phase.is_open(at) or phase.is_to_come(at):
        return phase.is_open(at)
    end = closes_at(phase, team)
    return end is not None and at <= end


def extensions_of(phase: Phase, user: User) -> list[Extension]:
    """Return the extensions of the user's teams that end after the phase's deadline, sorted by team name."""
    if phase.closes_at is None:
        return []
    rows = Extension.objects.filter(phase=phase, team__members=user, closes_at__gt=phase.closes_at)
    return list(rows.select_related("team").order_by("team__name", "closes_at"))


def is_open_to(phase: Phase, user: User, at: datetime | None = None) -> bool:
    """Return whether the phase accepts submissions of at least one team of the user at `at` (default: now).

    A user without a team counts as one with a team without an extension.
    """
    at = at or timezone.now()
    if not phase.is_in_use:
        return False
    if phase.is_open(at) or phase.is_to_come(at):
        return phase.is_open(at)
    return Extension.objects.filter(phase=phase, team__members=user, closes_at__gte=at).exists()
