"""An organisers' scorer that fails on some predictions and not on others answers questions, and refunds them."""

from __future__ import annotations

from django.db.models import Count, Q

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Phase, Reason, Run, State, Team

A_TEAM, ALL = 3, 20
"""Submissions that one state of a scorer may fail on, of a team and of all teams, before it is asked no more."""


def check(*, phase: Phase, team: Team) -> None:
    """Raises Refused where the phase's scorer has failed too often; its next number begins anew."""
    if phase.scorer_id is None:
        return
    failed = Run.objects.filter(
        prediction__submission__phase=phase, scorer=phase.scorer_id, state=State.FAILED, reason=Reason.SCORER
    )
    own = Q(prediction__submission__system__team=team.pk)
    prediction = "prediction"
    counted = failed.aggregate(
        team=Count(prediction, filter=own, distinct=True), everybody=Count(prediction, distinct=True)
    )
    if counted["team"] >= A_TEAM or counted["everybody"] >= ALL:
        raise Refused(
            Code.NOT_READY,
            "The scorer of this phase has failed on several submissions. It takes no more until its organisers have "
            "mended it; they are told. Nothing was submitted, and no quota was used.",
            heading="This phase takes nothing at the moment",
        )
