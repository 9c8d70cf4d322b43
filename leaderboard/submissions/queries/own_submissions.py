"""Submissions of a user's teams: filters, current ranks, and the revealed scores of each system over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Leaderboard, Phase, Standing, Submission, System, Team
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.queries.progress import Progress, state_column
from leaderboard.submissions.queries.quotas import Quota, quotas_of

_FILTERS = {
    "benchmark": "phase__benchmark__slug",
    "phase": "phase__slug",
    "system": "system__name",
    "team": "system__team__name__iexact",
    "state": "shown_state",
}


def filtered(user: Any, *, search: str = "", **values: str) -> QuerySet[Submission]:
    """Return the submissions of the user's teams that pass the filters, the latest first.

    search: words that each occur in the system's name, the benchmark's title or the note. values: required values by
    filter, which is `benchmark` or `phase` (slugs), `system` or `team` (names), or `state`; empty: any.
    """
    fields = {_FILTERS[name]: value for name, value in values.items() if value}
    rows = Submission.objects.of_teams_of(user).alias(shown_state=state_column()).filter(**fields)
    for word in search.split():
        rows = rows.filter(
            Q(system__name__icontains=word) | Q(note__icontains=word) | Q(phase__benchmark__title__icontains=word)
        )
    return rows.order_by("-received_at", "pk")


def ranks_of(submissions: Iterable[UUID]) -> dict[UUID, int]:
    """Return submission id -> rank, for those of the submissions that represent a ranked system on a current board."""
    standings = Standing.objects.filter(
        release__submission__in=list(submissions), leaderboard__state=Leaderboard.State.CURRENT, rank__isnull=False
    )
    return {submission: rank for submission, rank in standings.values_list("release__submission", "rank") if rank}


@dataclass(frozen=True)
class ScoreHistory:
    """The revealed scores of a system in a phase on the primary measure.

    n: number of the system's submissions, also those without a score. scored: submissions with a score, the earliest
    first. best: the one of `scored` with the best score; None if there are none. quota: of the team in the phase.
    may_submit: True if the team can submit to the phase now.
    """

    phase: Phase
    system: System
    n: int
    scored: Sequence[Progress]
    best: Progress | None
    quota: Quota
    may_submit: bool

    @property
    def values(self) -> list[float]:
        return [row.value for row in self.scored if row.value is not None]


def histories(rows: Iterable[Progress]) -> list[ScoreHistory]:
    """Return the score history of each pair of system and phase.

    rows: submissions, the latest first; one that occurs twice counts once.
    """
    grouped: dict[tuple[int, int], list[Progress]] = {}
    for row in {row.submission.pk: row for row in rows}.values():
        grouped.setdefault((row.submission.phase_id, row.submission.system_id), []).append(row)
    quotas: dict[tuple[int, int], Quota] = {}
    by_team: dict[Team, dict[int, Phase]] = {}
    for group in grouped.values():
        first = group[0].submission
        by_team.setdefault(first.system.team, {})[first.phase_id] = first.phase
    for team, phases in by_team.items():
        found = quotas_of(phases=[*phases.values()], team=team)
        quotas |= {(phase, team.pk): quota for phase, quota in found.items()}
    return [_history(group, quotas) for group in grouped.values()]


def _history(rows: Sequence[Progress], quotas: dict[tuple[int, int], Quota]) -> ScoreHistory:
    phase, system = rows[0].submission.phase, rows[0].submission.system
    scored = [row for row in reversed(rows) if row.value is not None]
    best = None
    if scored:
        release = scored[-1].release
        assert release is not None
        measure = scorer_of_phase.of(phase).measure(release.primary)
        choose = min if measure.higher_is_better is False else max
        best = choose(scored, key=lambda row: row.value or 0.0)
    quota = quotas[phase.pk, system.team_id]
    may_submit = bool(quota.left_today) and deadlines.is_open(phase, team=system.team)
    return ScoreHistory(phase, system, len(rows), scored, best, quota, may_submit)
