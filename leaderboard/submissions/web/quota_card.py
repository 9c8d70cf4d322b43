"""Remaining quotas of a user in a phase, shown next to the submission forms."""

from __future__ import annotations

from leaderboard.models import Phase, Team, User
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.queries.quotas import Quota, quota_of, team_of_phase

Quotas = list[tuple[Team | None, Quota]]
"""(team, its quota in a phase); team None: the team that a user without one gets with the first submission."""


def quotas_of_person(user: User, phase: Phase) -> Quotas:
    """Return the quotas of the teams for which the user may submit to a phase.

    If the user competes in the phase already, they are those of that team and of teams of baselines; none if the user
    has left that team. For a user without a team, returns the full quota of a team that does not exist yet (None).
    """
    teams: list[Team | None] = [*user.teams.order_by("membership__id")] or [None]
    bound = team_of_phase(phase=phase, user=user)
    if bound is not None:
        teams = [team for team in teams if team == bound or (team is not None and hasattr(team, "baselines_of"))]
    return [(team, quota_of(phase=phase, team=team)) for team in teams]


def may_submit(phase: Phase, quotas: Quotas, user: User) -> bool:
    """Return whether the phase is open to any of the user's teams, and any team in `quotas` has some left today."""
    return deadlines.is_open_to(phase, user) and any(quota.left_today for _, quota in quotas)
