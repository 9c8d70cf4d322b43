"""Submission quotas: how many submissions a team has left in a phase. Refunded submissions do not count.

`leaderboard.submissions.actions.submit` enforces the quotas and charges submissions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from leaderboard.boards.disclosure.policies import policy_of
from leaderboard.models import Phase, Prediction, QuotaCharge, ReleaseSlice, Submission, System, Team, User


@dataclass(frozen=True)
class Quota:
    """A team's quota in a phase, in submissions: the limits, and the submissions that are charged to them.

    per_day, total: limits for each team. used_today, used_total: submissions of the team. A day is a calendar day in
    UTC; resets_at: the next midnight. of_all: limit for all teams together, None if there is none. used_by_all:
    submissions of all teams, 0 if there is no limit for all. detailed: how many submissions are shown in detail,
    None if all are; n_sent: those that count towards it; both only with `with_details`.
    """

    per_day: int
    total: int
    used_today: int
    used_total: int
    resets_at: datetime
    of_all: int | None = None
    used_by_all: int = 0
    detailed: int | None = None
    n_sent: int = 0

    @property
    def left_today(self) -> int:
        return max(0, min(self.per_day - self.used_today, self.left_total))

    @property
    def left_total(self) -> int:
        own = max(0, self.total - self.used_total)
        return own if self.left_of_all is None else min(own, self.left_of_all)

    @property
    def left_of_all(self) -> int | None:
        return None if self.of_all is None else max(0, self.of_all - self.used_by_all)

    @property
    def left_detailed(self) -> int | None:
        return None if self.detailed is None else max(0, self.detailed - self.n_sent)


def quota_of(*, phase: Phase, team: Team | None, at: datetime | None = None) -> Quota:
    """Return a team's quota in a phase at `at` (default: now).

    team: None for a team that does not exist yet, and so has used nothing.
    """
    return quotas_of(phases=[phase], team=team, at=at)[phase.pk]


def quotas_of(*, phases: Sequence[Phase], team: Team | None, at: datetime | None = None) -> dict[int, Quota]:
    """Return a team's quotas in several phases at `at` (default: now), by the phase's primary key.

    team: None for a team that does not exist yet. Needs at most two queries.
    """
    at = at or timezone.now()
    midnight = at.astimezone(timezone.get_default_timezone()).replace(hour=0, minute=0, second=0, microsecond=0)
    resets_at = midnight + timedelta(days=1)
    used = {}
    if team is not None:
        charges = QuotaCharge.objects.filter(phase__in=phases, team=team, refunded_at=None).values("phase")
        today = Q(charged_at__gte=midnight, charged_at__lt=resets_at)
        counts = charges.annotate(total=Count("id"), today=Count("id", filter=today))
        used = {count["phase"]: (count["today"], count["total"]) for count in counts}
    limited = [phase.pk for phase in phases if phase.quota_everybody is not None]
    by_all = _used_by_all(limited) if limited else {}
    return {
        phase.pk: Quota(
            phase.quota_per_day,
            phase.quota_total,
            *used.get(phase.pk, (0, 0)),
            resets_at,
            phase.quota_everybody,
            by_all.get(phase.pk, 0),
        )
        for phase in phases
    }


def with_details(quotas: Mapping[int, Quota], *, phases: Sequence[Phase], team: Team | None) -> dict[int, Quota]:
    """Return a team's quotas with how many submissions were and are shown in detail, in at most three queries.

    They are the team's first predictions in the phase; on a ladder the first that showed scores, of the team or of all.
    quotas: by the phase's primary key. phases: those of the quotas, with their splits loaded.
    """
    ladders = {phase for phase in phases if phase.disclosure == Phase.Disclosure.LADDER}
    shared = {phase for phase in ladders if phase.scope == Phase.Scope.TASK}
    sent: dict[int, int] = {}
    shown = ReleaseSlice.objects.filter(slice_key="", release__submission__system__kind=System.Kind.PARTICIPANT)
    if shared:
        sent |= _counted(shown.filter(release__phase__in=shared), "release__phase", "release__submission")
    if team is not None and ladders - shared:
        of_team = shown.filter(release__phase__in=ladders - shared, release__submission__system__team=team)
        sent |= _counted(of_team, "release__phase", "release__submission")
    if team is not None and set(phases) - ladders:
        predictions = Prediction.objects.filter(submission__phase__in=set(phases) - ladders, sequence__isnull=False)
        sent |= _counted(predictions.filter(submission__system__team=team), "submission__phase", "pk")
    return {
        phase.pk: replace(quotas[phase.pk], detailed=policy_of(phase).detailed_answers, n_sent=sent.get(phase.pk, 0))
        for phase in phases
    }


def _counted(rows: QuerySet[Any], phase: str, counted: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(phase).annotate(Count(counted, distinct=True)))


def _used_by_all(phases: Sequence[int]) -> dict[int, int]:
    """Return phase -> number of charged submissions of all teams together, for the phases with these primary keys.

    Phases without such submissions have no key.
    """
    charges = QuotaCharge.objects.filter(phase__in=phases, refunded_at=None).values("phase")
    return {count["phase"]: count["n"] for count in charges.annotate(n=Count("id"))}


def team_of_phase(*, phase: Phase, user: User) -> Team | None:
    """Return the team for which a user competes in a phase: the team of the user's first submission to the phase.

    None if the user has submitted nothing. A refund of the submission does not change the team, nor does leaving the
    team: otherwise a user could multiply quotas by joining one team after another. Submissions of baselines and of
    organisers' systems do not compete and are ignored.
    """
    first = first_of_phase(phase=phase, user=user).select_related("system__team").first()
    return first.system.team if first else None


def first_of_phase(*, phase: Phase, user: User) -> QuerySet[Submission]:
    """Return the user's competing submissions to a phase, the earliest first; the first one decides `team_of_phase`."""
    submissions = Submission.objects.filter(phase=phase, submitted_by=user, system__kind=System.Kind.PARTICIPANT)
    return submissions.order_by("received_at", "pk")
