"""Leakage budget of a phase: how much the best shown score may exceed its true value because of all results so far.

This excess is called inflation, in units of a proportion such as accuracy (0.02: 2 percentage points). A result is a
release to a competing system, with or without scores. Leakage in data is another sense: see
`evaluator.curation.audit.leaks`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from django.db.models import Count, Q

from evaluator.disclosure import ladder
from leaderboard.boards.queries import board_state, n_groups_of
from leaderboard.models import GoldVersion, Phase, Release, System

FORECAST_RESULTS = 100
"""Number of further results in the forecast."""


def full_disclosure_inflation(answers: int, n_groups: int) -> float:
    """Return the expected excess of a shown accuracy over the true one after k results with full scores.

    The excess is Phi(sqrt(k / n)) - 1/2 with k = `answers`, the number of results, and n = `n_groups`; 0.0 without
    groups. An attacker reaches it on binary labels by submitting k random labellings and then their majority vote, in
    which each labelling is weighted by the difference of its score from chance: on new data the vote is no better than
    chance, so its true accuracy is 1/2.
    """
    return NormalDist().cdf(math.sqrt(answers / n_groups)) - 0.5 if n_groups else 0.0


def ladder_inflation_bound(log_transcripts: float, n_groups: int) -> float:
    """Return an upper bound of the expected excess of the best shown score over its true value: sqrt(ln N / (2 n)).

    N is the number of possible sequences of results, given as `log_transcripts` = ln N; n is `n_groups`; without groups
    the bound is 0.0. By Hoeffding's inequality, the best shown score of N classifiers fixed beforehand exceeds its true
    value by no more than the bound on average. An attacker's last submission depends only on the results before it, so
    it is one of N classifiers.
    """
    return math.sqrt(max(0.0, log_transcripts) / (2 * n_groups)) if n_groups else 0.0


@dataclass(frozen=True)
class Spent:
    """The results that a phase has returned on one gold version.

    answers: number of results, which are competing submissions with a release. n_scored: number of those whose release
    revealed scores. levels: natural logarithm of the number of values that the scores of one such release could have
    had on a ladder.
    """

    answers: int
    n_scored: int
    levels: float = 0.0

    @property
    def log_transcripts(self) -> float:
        """Natural logarithm of the number of possible sequences of results, on a ladder.

        Sequences differ in the results that have scores, or in the values of these scores.
        """
        n_scored = min(self.n_scored, self.answers)
        which = math.lgamma(self.answers + 1) - math.lgamma(n_scored + 1) - math.lgamma(self.answers - n_scored + 1)
        return which + n_scored * self.levels


@dataclass(frozen=True)
class Row:
    """A row of the budget table, now or after further results.

    title: `So far` or `After N more results`. answers: number of results. n_scored: number of those with scores.
    in_full: inflation if each result revealed the full score. inflation: upper bound of the inflation under the
    phase's disclosure policy.
    """

    title: str
    answers: int
    n_scored: int
    in_full: float
    inflation: float


@dataclass(frozen=True)
class Budget:
    """The leakage budget of a phase on the gold of its current board.

    gold: None if the phase has none yet. n_groups: number of gold groups that the phase scores. spent: results so far.
    """

    phase: Phase
    gold: GoldVersion | None
    n_groups: int
    spent: Spent

    def inflation(self, spent: Spent) -> float:
        """Return the upper bound of the inflation under the phase's disclosure policy after the results `spent`."""
        in_full = full_disclosure_inflation(spent.answers, self.n_groups)
        match self.phase.disclosure:
            case Phase.Disclosure.LADDER:
                return min(in_full, ladder_inflation_bound(spent.log_transcripts, self.n_groups))
            case Phase.Disclosure.SEALED:
                # No score is revealed before the last submission: the only bias is that of selecting the best of them.
                return min(in_full, ladder_inflation_bound(math.log(max(1, spent.answers)), self.n_groups))
        return in_full

    def after(self, more: int) -> Spent:
        """Return the results so far together with `more` further ones.

        On a ladder, exactly one of the further results is assumed to reveal scores. In a sealed phase, which returns no
        further results, the results so far are returned.
        """
        if self.phase.disclosure == Phase.Disclosure.LADDER:
            return Spent(self.spent.answers + more, self.spent.n_scored + 1, self.spent.levels)
        if self.phase.disclosure == Phase.Disclosure.SEALED:
            return self.spent
        return Spent(self.spent.answers + more, self.spent.n_scored + more, self.spent.levels)

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The two rows of the table: now, and after FORECAST_RESULTS further results."""
        later = self.after(FORECAST_RESULTS)
        return [self._row("So far", self.spent), self._row(f"After {FORECAST_RESULTS} more results", later)]

    def _row(self, title: str, spent: Spent) -> Row:
        in_full = full_disclosure_inflation(spent.answers, self.n_groups)
        return Row(title, spent.answers, spent.n_scored, in_full, self.inflation(spent))

    @property
    def added(self) -> float:
        """The inflation that the next FORECAST_RESULTS results would add, under the phase's disclosure policy."""
        return self.rows[1].inflation - self.rows[0].inflation

    @property
    def step(self) -> float | None:
        """The step of a ladder for a measure between 0 and 1: 1 / sqrt(n_groups); None without groups."""
        return 1 / math.sqrt(self.n_groups) if self.n_groups else None


def budget_of(phase: Phase) -> Budget:
    """Return the leakage budget of a phase, in a few queries. `phase` must have its benchmark and split loaded."""
    shown = board_state.current(phase)
    gold = shown.gold_version if shown else board_state.gold_of(phase)
    n_groups = n_groups_of(phase, gold) or 0
    released = Release.objects.filter(phase=phase, submission__system__kind=System.Kind.PARTICIPANT)
    if gold is not None:
        released = released.filter(run__gold_version=gold)
    counts = released.aggregate(
        answers=Count("submission", distinct=True), n_scored=Count("submission", ~Q(values=[]), distinct=True)
    )
    return Budget(phase, gold, n_groups, Spent(counts["answers"], counts["n_scored"], _levels(phase, gold)))


@dataclass(frozen=True)
class OfTeam:
    """The results of a phase that were returned to one team, on all gold versions.

    team: its name. answers: number of results. n_scored: number of those with scores.
    """

    team: str
    answers: int
    n_scored: int


def by_team(phase: Phase) -> Sequence[OfTeam]:
    """Return the results of each competing team of a phase, the team with the most results first."""
    released = Release.objects.filter(phase=phase, submission__system__kind=System.Kind.PARTICIPANT)
    rows = released.values("submission__system__team__name").annotate(
        answers=Count("submission", distinct=True), n_scored=Count("submission", ~Q(values=[]), distinct=True)
    )
    teams = [OfTeam(row["submission__system__team__name"], row["answers"], row["n_scored"]) for row in rows]
    return sorted(teams, key=lambda row: (-row.answers, row.team))


def others_on(phase: Phase) -> Sequence[Budget]:
    """Return the budgets of the other phases that score any of this phase's groups.

    Results of those phases add to the leakage of this one.
    """
    others = Phase.objects.filter(split=phase.split).exclude(pk=phase.pk).select_related("benchmark", "split")
    if phase.subset:
        others = others.filter(subset__in=("", phase.subset))
    return [budget_of(other) for other in others.order_by("benchmark", "position", "pk")]


def _levels(phase: Phase, gold: GoldVersion | None) -> float:
    """Return the natural logarithm of the number of values that the scores of one release could have had on a ladder.

    It is computed from the measures and slices of the last release with scores on the version `gold`. 0.0 if there is
    no such release, or if the phase's disclosure policy is not a ladder.
    """
    revealing = Release.objects.filter(phase=phase, run__gold_version=gold).exclude(values=[]).order_by("-sequence")
    last = revealing.select_related("run").first()
    if phase.disclosure != Phase.Disclosure.LADDER or last is None:
        return 0.0
    board = phase.leaderboards.filter(gold_version=gold, task_version=last.run.task_version).first()
    if board is None:
        return 0.0
    measure_of = board_state.measures_of(board)
    total = 0.0
    for name, n_groups in last.run.scores.exclude(n_groups=None).values_list("measure", "n_groups"):
        measure = measure_of(name)
        size = ladder.step(measure, n_groups)
        if size is not None:
            total += math.log(1 + (measure.high - measure.low) / size)
    return total
