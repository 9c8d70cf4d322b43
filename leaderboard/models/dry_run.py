"""Dry runs: baselines scored on a split before its phases open, for the split's managers."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluator.jsonl.decompress import is_packed

from .dataset import GoldVersion
from .state import ACTIVE, LeasedWork, State, lease_constraints
from .submission import predictions_storage


def unguessable_dry_run(instance: models.Model, filename: str) -> str:
    """Return a random name under which predictions are stored. Only the suffix .gz of `filename` is kept."""
    return f"dry-runs/{uuid.uuid4().hex}{'.jsonl.gz' if is_packed(filename) else '.jsonl'}"


class DryRun(LeasedWork):
    """One baseline, scored on one gold version as in a phase, without submission, release or board.

    The server computes the predictions of a trivial baseline from the inputs and public gold (`trains`), never from the
    gold that scores them. The predictions of other baselines are uploaded. `result` has the schema of
    `holdout-eval score --json`; it reveals information about hidden gold.
    """

    class Kind(models.TextChoices):
        TRIVIAL = "trivial", "computed by the server"
        FILE = "file", "uploaded"

    gold = models.ForeignKey(GoldVersion, on_delete=models.CASCADE, related_name="dry_runs")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=120, help_text="of a baseline of the task, or of an uploaded file")
    scored_as = models.CharField(
        max_length=80, blank=True, help_text="slug of the phase whose options it uses; empty: no phase"
    )
    subset = models.CharField(
        max_length=10, blank=True, help_text="public or private groups of the gold; empty: all groups"
    )
    options = models.JSONField(default=dict, blank=True)
    trains = models.ManyToManyField(GoldVersion, related_name="+", blank=True)
    inputs_sha256 = models.CharField(max_length=64)
    file = models.FileField(storage=predictions_storage, upload_to=unguessable_dry_run, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    bytes = models.PositiveBigIntegerField(default=0)
    result = models.JSONField(default=dict, blank=True, help_text="primary, scores and groups; empty until done")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")

    class Meta:
        ordering = ["id"]
        constraints = [
            *lease_constraints("dry_run"),
            models.UniqueConstraint(
                fields=["gold", "scored_as", "name"],
                condition=Q(state__in=(*ACTIVE, State.DONE)),
                name="one_dry_run_a_name",
            ),
            models.CheckConstraint(
                condition=(Q(kind="file") & ~Q(file="") & ~Q(sha256="")) | Q(kind="trivial", file="", sha256=""),
                name="dry_run_of_a_file_has_one",
            ),
        ]
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"dry run of {self.name} on {self.gold}"
