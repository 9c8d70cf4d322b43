"""Leakage budget: how much of its gold a phase may have revealed, and how much further releases would add."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from django.db.models import Count, Q

from leaderboard.boards.disclosure import ladder
from leaderboard.boards.queries import board_state, n_groups_of
from leaderboard.models import GoldVersion, Phase, Release, System

AHEAD = 100
"""Number of further answers in the forecast."""


def full_disclosure_inflation(answers: int, n_groups: int) -> float:
    """Return the expected excess of a shown proportion over the true one after `answers` full scores.

    It is Phi(sqrt(k / n)) - 1/2: a majority vote of k random guesses, each inverted if it scores below chance, agrees
    with labels it has never seen that much more often than chance.
    """
    return NormalDist().cdf(math.sqrt(answers / n_groups)) - 0.5 if n_groups else 0.0


def ladder_inflation_bound(log_transcripts: float, n_groups: int) -> float:
    """Return an upper bound of the expected excess after one of N possible transcripts of answers: sqrt(ln N / 2n).

    The luckiest of N classifiers fixed beforehand appears that much too good (Hoeffding), and a transcript selects one
    of as many classifiers as there are transcripts.
    """
    return math.sqrt(max(0.0, log_transcripts) / (2 * n_groups)) if n_groups else 0.0


@dataclass(frozen=True)
class Spent:
    """The answers of a phase on one gold: `answers` to competing submissions, `told` of them with scores.

    levels: the natural logarithm of the number of values that one such answer could have had.
    """

    answers: int
    n_scored: int
    levels: float = 0.0

    @property
    def log_transcripts(self) -> float:
        """Log of the number of transcripts: which answers had scores, and which scores."""
        n_scored = min(self.n_scored, self.answers)
        which = math.lgamma(self.answers + 1) - math.lgamma(n_scored + 1) - math.lgamma(self.answers - n_scored + 1)
        return which + n_scored * self.levels


@dataclass(frozen=True)
class Row:
    """A row of the budget. in_full: if every answer had full scores; inflation: upper bound with the phase's policy."""

    title: str
    answers: int
    n_scored: int
    in_full: float
    inflation: float


@dataclass(frozen=True)
class Budget:
    """A phase's budget on its shown board's gold. n_groups: the number of groups that it scores."""

    phase: Phase
    gold: GoldVersion | None
    n_groups: int
    spent: Spent

    def inflation(self, spent: Spent) -> float:
        """Return the upper bound of the inflation with the phase's policy, after `spent`."""
        in_full = full_disclosure_inflation(spent.answers, self.n_groups)
        match self.phase.disclosure:
            case Phase.Disclosure.LADDER:
                return min(in_full, ladder_inflation_bound(spent.log_transcripts, self.n_groups))
            case Phase.Disclosure.SEALED:
                # Nothing is revealed before all have submitted: only the best of so many is selected.
                return min(in_full, ladder_inflation_bound(math.log(max(1, spent.answers)), self.n_groups))
        return in_full

    def after(self, more: int) -> Spent:
        """Return the answers after `more` further ones; on a ladder one of them reveals a score."""
        if self.phase.disclosure == Phase.Disclosure.LADDER:
            return Spent(self.spent.answers + more, self.spent.n_scored + 1, self.spent.levels)
        if self.phase.disclosure == Phase.Disclosure.SEALED:
            return self.spent
        return Spent(self.spent.answers + more, self.spent.n_scored + more, self.spent.levels)

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Rows for now and after AHEAD further answers."""
        later = self.after(AHEAD)
        return [self._row("So far", self.spent), self._row(f"After {AHEAD} more", later)]

    def _row(self, title: str, spent: Spent) -> Row:
        in_full = full_disclosure_inflation(spent.answers, self.n_groups)
        return Row(title, spent.answers, spent.n_scored, in_full, self.inflation(spent))

    @property
    def added(self) -> float:
        """Inflation that the next AHEAD answers would add."""
        return self.rows[1].inflation - self.rows[0].inflation

    @property
    def step(self) -> float | None:
        """Step size of a ladder, for a proportion."""
        return 1 / math.sqrt(self.n_groups) if self.n_groups else None


def budget_of(phase: Phase) -> Budget:
    """Return a phase's budget in a few queries; `phase` must have its benchmark and split selected."""
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
    """A team's share of the budget."""

    team: str
    answers: int
    n_scored: int


def by_team(phase: Phase) -> Sequence[OfTeam]:
    """Return the competing teams, sorted by number of answers, descending."""
    released = Release.objects.filter(phase=phase, submission__system__kind=System.Kind.PARTICIPANT)
    rows = released.values("submission__system__team__name").annotate(
        answers=Count("submission", distinct=True), n_scored=Count("submission", ~Q(values=[]), distinct=True)
    )
    teams = [OfTeam(row["submission__system__team__name"], row["answers"], row["n_scored"]) for row in rows]
    return sorted(teams, key=lambda row: (-row.answers, row.team))


def others_on(phase: Phase) -> Sequence[Budget]:
    """Return the budgets of the other phases that score any of this phase's groups, and so leak about it too."""
    others = Phase.objects.filter(split=phase.split).exclude(pk=phase.pk).select_related("benchmark", "split")
    if phase.subset:
        others = others.filter(subset__in=("", phase.subset))
    return [budget_of(other) for other in others.order_by("benchmark", "position", "pk")]


def _levels(phase: Phase, gold: GoldVersion | None) -> float:
    """Return the log of the number of values that a ladder's answer could have had, from the last one's scores."""
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
