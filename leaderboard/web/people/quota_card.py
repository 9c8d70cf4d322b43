"""What is left of a person's quotas in a phase, beside each form that uses them."""

from __future__ import annotations

from leaderboard.models import Phase, Team, User
from leaderboard.quotas import Quota, quota_of

Quotas = list[tuple[Team | None, Quota]]


def quotas_of_person(user: User, phase: Phase) -> Quotas:
    """Each of the person's teams with its quota; somebody without a team has all of one that is yet to come."""
    teams: list[Team | None] = [*user.teams.order_by("membership__id")] or [None]
    return [(team, quota_of(phase=phase, team=team)) for team in teams]


def may_submit(phase: Phase, quotas: Quotas) -> bool:
    """Whether the phase is open, and some team may still submit today."""
    return phase.is_open() and any(quota.left_today for _, quota in quotas)
