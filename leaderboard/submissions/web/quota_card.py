"""Remaining quotas of a user in a phase, shown next to the submission forms."""

from __future__ import annotations

from leaderboard.models import Phase, Team, User
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.queries.quotas import Quota, quotas_of, team_of_phase, with_details

Quotas = list[tuple[Team | None, Quota]]
"""(team, its quota in a phase); team None: the team that a user without one gets with the first submission."""


def quotas_of_person(user: User, phase: Phase) -> Quotas:
    """Return (team, its quota in the phase) for each team for which the user may submit to the phase.

    If the user already competes in the phase for a team, that is the only team besides the user's teams of baselines;
    it is left out if the user has left it. For a user without a team, returns (None, full quota of a new team).
    """
    teams: list[Team | None] = [*user.teams.order_by("membership__id")] or [None]
    bound = team_of_phase(phase=phase, user=user)
    if bound is not None:
        teams = [team for team in teams if team == bound or (team is not None and hasattr(team, "baselines_of"))]
    return [(team, _quota(phase, team)) for team in teams]


def _quota(phase: Phase, team: Team | None) -> Quota:
    return with_details(quotas_of(phases=[phase], team=team), phases=[phase], team=team)[phase.pk]


def may_submit(phase: Phase, quotas: Quotas, user: User) -> bool:
    """Return whether the phase is open to a team of the user and a team in `quotas` has submissions left today."""
    return deadlines.is_open_to(phase, user) and any(quota.left_today for _, quota in quotas)
