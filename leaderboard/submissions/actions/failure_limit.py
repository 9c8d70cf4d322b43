"""Limit on the failures of a phase's custom scorer, after which the phase accepts no submissions.

Each failure refunds the quota, and whether the scorer fails on certain predictions can reveal something about the gold.
"""

from __future__ import annotations

from django.db.models import Count, Q

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Phase, Reason, Run, State, Team

A_TEAM, ALL = 3, 20
"""Numbers of submissions, of one team and of all teams, on which a scorer may fail until the phase accepts no more."""


def check(*, phase: Phase, team: Team) -> None:
    """Raise Refused SCORER_FAILING if the phase's custom scorer has failed on too many submissions.

    The limits are A_TEAM submissions of the team and ALL submissions of all teams together. Does nothing for a phase
    without a custom scorer. When the phase gets another scorer, the count starts again from zero.
    """
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
            Code.SCORER_FAILING,
            "The scorer of this phase has failed on several submissions. The phase accepts no "
            "submissions until its organisers have fixed the scorer; they are notified. Nothing was "
            "submitted, and no quota was used.",
            heading="This phase accepts no submissions at the moment",
        )
