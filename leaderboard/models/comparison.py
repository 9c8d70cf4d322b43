"""Rank ranges of a leaderboard, the pairwise comparisons behind them, and head-to-head reports."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from .leaderboard import Leaderboard
from .run import Run
from .state import LeasedWork, Reason, lease_constraints


class Ranking(models.Model):
    """The computation of one leaderboard's rank ranges, with a lease of the worker that computes them.

    changes: incremented, and rank ranges cleared, by each change of the competing systems or their values. covered: the
    value of `changes` for which rank ranges were last computed. attempt: number of times that a worker has claimed the
    computation; a worker may write only while `attempt` still has the value that its claim gave it.
    """

    leaderboard = models.OneToOneField(Leaderboard, on_delete=models.CASCADE, related_name="ranking")
    changes = models.PositiveIntegerField(default=0)
    covered = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0, help_text="since the last change")
    reason = models.CharField(max_length=20, choices=Reason.choices, default=Reason.NONE, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")
    computed_at = models.DateTimeField(null=True, blank=True)
    n_pairs = models.PositiveIntegerField(
        default=0, help_text="pairs in the family of the Holm correction; 0 until the first are compared after a change"
    )
    n_compared = models.PositiveIntegerField(default=0, help_text="how many of these pairs are compared")
    n_unresolved = models.PositiveIntegerField(
        default=0, help_text="pairs whose p is the smallest possible and still too large after correction"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(covered__lte=F("changes")), name="ranking_covers_what_there_was"),
        ]

    def __str__(self) -> str:
        return f"ranking of {self.leaderboard}"

    @property
    def is_due(self) -> bool:
        return self.covered != self.changes


class Comparison(models.Model):
    """Comparison of two runs `a` and `b` of a leaderboard by one measure over all units. It never changes.

    difference: value of `a` minus value of `b`. low, high: ends of its bootstrap confidence interval. p: p-value of the
    permutation test.
    """

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="comparisons")
    a = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    b = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    measure = models.CharField(max_length=60)
    difference = models.FloatField(null=True, help_text="a - b; none where either has no value")
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    p = models.FloatField(null=True, help_text="two-sided, by permutation of groups, not corrected")
    n_permutations = models.PositiveIntegerField(help_text="number of permutations behind p")
    n_groups = models.PositiveIntegerField()
    resamples = models.PositiveIntegerField(help_text="bootstrap resamples behind the interval")
    seed = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["a", "b", "measure"], name="one_comparison_a_pair_and_measure"),
            # The order of a pair is fixed, so that it cannot be stored twice.
            models.CheckConstraint(condition=Q(a__lt=F("b")), name="comparison_of_two_runs_in_order"),
            models.CheckConstraint(
                condition=Q(p=None, difference=None) | Q(p__isnull=False, difference__isnull=False, p__gt=0, p__lte=1),
                name="comparison_has_a_p_with_its_difference",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.a_id} against {self.b_id}, {self.measure}"


class HeadToHead(LeasedWork):
    """Head-to-head report of two runs of a leaderboard: every measure on every slice, computed on request."""

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="head_to_heads")
    a = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    b = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")
    report = models.JSONField(default=dict, help_text="report of evaluator.jobs on the two systems; empty until done")

    class Meta:
        constraints = [
            *lease_constraints("side_by_side"),
            models.UniqueConstraint(fields=["a", "b"], name="one_side_by_side_a_pair"),
            # The order of a pair is fixed, so that it cannot be stored twice.
            models.CheckConstraint(condition=Q(a__lt=F("b")), name="side_by_side_of_two_runs_in_order"),
        ]
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"{self.a_id} beside {self.b_id}"
