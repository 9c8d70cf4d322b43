"""The read side of disclosure: how much of its gold a phase may have given away, and what more answers would add."""

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
"""Answers whose price is told beforehand."""


def told_in_full(answers: int, n_groups: int) -> float:
    """By how much a shown share is expected to exceed the true one, after so many answers in full to somebody who puts
    them together: Phi(sqrt(k / n)) - 1/2. A vote of k random guesses, each turned the way that its score says, agrees
    with labels that it has never seen so much more often than chance.
    """
    return NormalDist().cdf(math.sqrt(answers / n_groups)) - 0.5 if n_groups else 0.0


def told_by_transcripts(log_transcripts: float, n_groups: int) -> float:
    """By how much at most, in expectation, whoever saw one of so many possible series of answers: sqrt(ln N / 2n).

    Of N classifiers that were fixed beforehand the luckiest shows so much too much (Hoeffding), and a series of answers
    picks one of as many as there are series.
    """
    return math.sqrt(max(0.0, log_transcripts) / (2 * n_groups)) if n_groups else 0.0


@dataclass(frozen=True)
class Spent:
    """What a phase has told on one gold: `answers` to submissions that compete, `told` of which with scores.

    levels: the natural logarithm of how many different things one such answer could have said.
    """

    answers: int
    told: int
    levels: float = 0.0

    @property
    def log_transcripts(self) -> float:
        """Which of the answers told something, and what: the logarithm of the number of series."""
        told = min(self.told, self.answers)
        which = math.lgamma(self.answers + 1) - math.lgamma(told + 1) - math.lgamma(self.answers - told + 1)
        return which + told * self.levels


@dataclass(frozen=True)
class Row:
    """One line of the budget. in_full: were every answer one in full; inflation: with the phase's policy, at most."""

    title: str
    answers: int
    told: int
    in_full: float
    inflation: float


@dataclass(frozen=True)
class Budget:
    """A phase's budget on the gold that its board shows. n_groups: those that it scores."""

    phase: Phase
    gold: GoldVersion | None
    n_groups: int
    spent: Spent

    def inflation(self, spent: Spent) -> float:
        """With the phase's policy, after so many answers."""
        in_full = told_in_full(spent.answers, self.n_groups)
        match self.phase.disclosure:
            case Phase.Disclosure.LADDER:
                return min(in_full, told_by_transcripts(spent.log_transcripts, self.n_groups))
            case Phase.Disclosure.SEALED:
                # Nobody hears anything before all have answered: the best of so many is chosen, and no more.
                return min(in_full, told_by_transcripts(math.log(max(1, spent.answers)), self.n_groups))
        return in_full

    def after(self, more: int) -> Spent:
        """So many answers later; on a ladder one more of them tells something."""
        if self.phase.disclosure == Phase.Disclosure.LADDER:
            return Spent(self.spent.answers + more, self.spent.told + 1, self.spent.levels)
        if self.phase.disclosure == Phase.Disclosure.SEALED:
            return self.spent
        return Spent(self.spent.answers + more, self.spent.told + more, self.spent.levels)

    @cached_property
    def rows(self) -> Sequence[Row]:
        """So far, and after the next AHEAD."""
        later = self.after(AHEAD)
        return [self._row("So far", self.spent), self._row(f"After {AHEAD} more", later)]

    def _row(self, title: str, spent: Spent) -> Row:
        in_full = told_in_full(spent.answers, self.n_groups)
        return Row(title, spent.answers, spent.told, in_full, self.inflation(spent))

    @property
    def added(self) -> float:
        """What the next AHEAD answers would add."""
        return self.rows[1].inflation - self.rows[0].inflation

    @property
    def step(self) -> float | None:
        """A ladder's, for a share."""
        return 1 / math.sqrt(self.n_groups) if self.n_groups else None


def budget_of(phase: Phase) -> Budget:
    """A phase's budget in a few queries; `phase` comes with its benchmark and split selected."""
    shown = board_state.current(phase)
    gold = shown.gold_version if shown else board_state.gold_of(phase)
    n_groups = n_groups_of(phase, gold) or 0
    released = Release.objects.filter(phase=phase, submission__system__kind=System.Kind.PARTICIPANT)
    if gold is not None:
        released = released.filter(run__gold_version=gold)
    counts = released.aggregate(
        answers=Count("submission", distinct=True), told=Count("submission", ~Q(values=[]), distinct=True)
    )
    return Budget(phase, gold, n_groups, Spent(counts["answers"], counts["told"], _levels(phase, gold)))


@dataclass(frozen=True)
class OfTeam:
    """A team's part in it."""

    team: str
    answers: int
    told: int


def by_team(phase: Phase) -> Sequence[OfTeam]:
    """The competing teams, those with most answers first."""
    released = Release.objects.filter(phase=phase, submission__system__kind=System.Kind.PARTICIPANT)
    rows = released.values("submission__system__team__name").annotate(
        answers=Count("submission", distinct=True), told=Count("submission", ~Q(values=[]), distinct=True)
    )
    found = [OfTeam(row["submission__system__team__name"], row["answers"], row["told"]) for row in rows]
    return sorted(found, key=lambda row: (-row.answers, row.team))


def others_on(phase: Phase) -> Sequence[Budget]:
    """The budgets of the other phases that tell of groups that this one scores, and so of it."""
    others = Phase.objects.filter(split=phase.split).exclude(pk=phase.pk).select_related("benchmark", "split")
    if phase.half:
        others = others.filter(half__in=("", phase.half))
    return [budget_of(other) for other in others.order_by("benchmark", "position", "pk")]


def _levels(phase: Phase, gold: GoldVersion | None) -> float:
    """What one telling answer of a ladder could have said, from the scores of the last one: each on its own grid."""
    telling = Release.objects.filter(phase=phase, run__gold_version=gold).exclude(values=[]).order_by("-sequence")
    last = telling.select_related("run").first()
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
