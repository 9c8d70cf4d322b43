"""What is left of a person's quotas in a phase, beside each form that uses them."""

from __future__ import annotations

from leaderboard.models import Phase, Team, User
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.queries.quotas import Quota, quota_of, team_of_phase

Quotas = list[tuple[Team | None, Quota]]


def quotas_of_person(user: User, phase: Phase) -> Quotas:
    """Each of the person's teams with its quota, or the one that they compete for there.

    Somebody without a team has all of one that is yet to come.
    """
    teams: list[Team | None] = [*user.teams.order_by("membership__id")] or [None]
    bound = team_of_phase(phase=phase, user=user)
    if bound in teams:
        teams = [bound]
    return [(team, quota_of(phase=phase, team=team)) for team in teams]


def may_submit(phase: Phase, quotas: Quotas, user: User) -> bool:
    """Whether the phase is open to the person, and some team may still submit today."""
    return deadlines.is_open_to(phase, user) and any(quota.left_today for _, quota in quotas)
