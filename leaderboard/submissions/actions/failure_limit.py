"""Limit on failures of a custom scorer: failing on some predictions only leaks information, and refunds the quota."""

from __future__ import annotations

from django.db.models import Count, Q

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Phase, Reason, Run, State, Team

A_TEAM, ALL = 3, 20
"""Maximum submissions, of one team and of all teams, that a scorer version may fail on before the phase stops."""


def check(*, phase: Phase, team: Team) -> None:
    """Raise Refused NOT_READY if the phase's scorer has failed too often; the next scorer starts again at zero."""
    if phase.scorer_id is None:
        return
    failed = Run.objects.filter(
        prediction__submission__phase=phase, scorer=phase.scorer_id, state=State.FAILED, reason=Reason.SCORER
    )
    own = Q(prediction__submission__system__team=team.pk)
    prediction = "prediction"
    counts = failed.aggregate(
        team=Count(prediction, filter=own, distinct=True), everybody=Count(prediction, distinct=True)
    )
    if counts["team"] >= A_TEAM or counts["everybody"] >= ALL:
        raise Refused(
            Code.NOT_READY,
            "The scorer of this phase has failed on several submissions. The phase accepts no "
            "submissions until its organisers have fixed the scorer; they are notified. Nothing was "
            "submitted, and no quota was used.",
            heading="This phase accepts no submissions at the moment",
        )
