"""Runs (scorings of predictions) and their scores. Scores are private: pages and the API show releases instead."""

from __future__ import annotations

import uuid

from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import F, Q

from .dataset import GoldVersion
from .scorer import Scorer
from .state import ACTIVE, LeasedWork, State, lease_constraints
from .submission import Prediction


def outcomes_storage() -> Storage:
    return storages["outcomes"]


class Run(LeasedWork):
    """One scoring of one prediction against one gold version by one task version."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    prediction = models.ForeignKey(Prediction, on_delete=models.PROTECT, related_name="runs")
    gold_version = models.ForeignKey(GoldVersion, on_delete=models.PROTECT, related_name="runs")
    task_version = models.PositiveIntegerField(help_text="the task's, or the scorer's number")
    scorer = models.ForeignKey(Scorer, null=True, on_delete=models.PROTECT, related_name="runs")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")
    problems = models.JSONField(default=list, blank=True, help_text="the participant's errors, if rejected")
    warnings = models.JSONField(default=list, blank=True)
    detail = models.TextField(blank=True, help_text="what was wrong with the scorer; shown to organisers only")
    error_id = models.CharField(max_length=40, blank=True, help_text="matches the log event in the operator's log")
    outcomes = models.FileField(storage=outcomes_storage, blank=True)
    outcomes_sha256 = models.CharField(max_length=64, blank=True)
    provenance = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            *lease_constraints("run"),
            models.UniqueConstraint(
                fields=["prediction", "gold_version", "task_version"],
                condition=Q(state__in=(*ACTIVE, State.DONE)),
                name="run_once_a_prediction_gold_and_task",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.DONE)
                | (~Q(outcomes="") & ~Q(outcomes_sha256=""))
                # A custom scorer may return scores without outcomes.
                | Q(scorer__isnull=False, outcomes="", outcomes_sha256=""),
                name="run_done_has_outcomes",
            ),
        ]
        indexes = [models.Index(fields=["state", "queued_at"]), models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return f"run {self.pk}"


class Score(models.Model):
    """The value of one measure in one run on one slice of the units, with its confidence interval from `low` to `high`.

    n: number of gold units from which the value is computed. A null value means that the measure is not defined there.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")
    measure = models.CharField(max_length=60)
    slice = models.JSONField(default=dict)
    slice_key = models.CharField(max_length=2000, blank=True, help_text="the slice as canonical JSON; empty: all")
    value = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    n_groups = models.PositiveIntegerField(
        null=True, help_text="number of gold groups with units in the slice, for the ladder's step; null: not counted"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "measure", "slice_key"], name="one_score_a_measure_and_slice"),
            models.CheckConstraint(
                condition=Q(low__isnull=True, high__isnull=True)
                # A comparison with NULL is unknown, and a check that is unknown passes.
                | Q(low__isnull=False, high__isnull=False, low__lte=F("high")),
                name="interval_ends_in_order",
            ),
            models.CheckConstraint(condition=Q(n__gt=0) | Q(value=None), name="empty_slice_has_no_value"),
        ]

    def __str__(self) -> str:
        return f"{self.measure}{self.slice_key} = {self.value}"
