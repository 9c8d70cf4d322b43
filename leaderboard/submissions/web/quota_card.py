"""Remaining quotas of a user in a phase, shown next to the submission forms."""

from __future__ import annotations

from leaderboard.models import Phase, Team, User
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.queries.quotas import Quota, quota_of, team_of_phase

Quotas = list[tuple[Team | None, Quota]]


def quotas_of_person(user: User, phase: Phase) -> Quotas:
    """Return (team, quota) of each of the user's teams, or only of the one that they compete for in the phase.

    A user without a team gets the full quota of a future team (None).
    """
    teams: list[Team | None] = [*user.teams.order_by("membership__id")] or [None]
    bound = team_of_phase(phase=phase, user=user)
    if bound in teams:
        teams = [bound]
    return [(team, quota_of(phase=phase, team=team)) for team in teams]


def may_submit(phase: Phase, quotas: Quotas, user: User) -> bool:
    """Return whether the phase is open to the user and any of the teams has quota left today."""
    return deadlines.is_open_to(phase, user) and any(quota.left_today for _, quota in quotas)
