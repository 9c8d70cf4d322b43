"""Submissions, their predictions, and their quota charges."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from .benchmark import Benchmark, Phase
from .dataset import unguessable_name
from .image import Image
from .state import LeasedWork, lease_constraints
from .team import System, Team


def predictions_storage() -> Storage:
    return storages["predictions"]


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def of_teams_of(self, user: Any) -> SubmissionQuerySet:
        """Return the submissions of the user's teams that the user may see (`visible_to`)."""
        return self.visible_to(user).filter(system__team__in=user.teams.values("pk"))

    def visible_to(self, user: Any) -> SubmissionQuerySet:
        """Return the submissions whose pages the user may open.

        These are the submissions of the user's teams to benchmarks that the user may see, and all submissions to
        benchmarks that the user organises. A curator may open all pages, a visitor who is not logged in none.
        """
        if not user.is_authenticated:
            return self.none()
        if user.is_curator:
            return self
        seen = Q(phase__benchmark__in=Benchmark.objects.visible_to(user).values("pk"))
        own = Q(system__team__in=user.teams.values("pk"))
        return self.filter(own & seen | Q(phase__benchmark__in=user.benchmarks.values("pk")))


class Submission(models.Model):
    """One submission of a system to a phase. It is never edited."""

    class Kind(models.TextChoices):
        PREDICTIONS = "predictions", "predictions file"
        IMAGE = "image", "container image"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="submissions")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.PREDICTIONS)
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="submissions")
    track = models.CharField(
        max_length=80, blank=True, editable=False, help_text="the declared track of the phase; empty: none"
    )
    note = models.CharField(max_length=300, blank=True)
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions")
    received_at = models.DateTimeField(help_text="the server's receipt time decides deadlines and quotas")
    # Not in archives: clients repeat requests to the server that they sent them to.
    idempotency_key = models.CharField(
        max_length=255, blank=True, editable=False, serialize=False, default="", help_text="empty: none"
    )
    idempotency_digest = models.CharField(
        max_length=64, blank=True, editable=False, serialize=False, default="", help_text="SHA-256"
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-received_at"]
        indexes = [models.Index(fields=["phase", "-received_at"])]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="image", image__isnull=False) | Q(kind="predictions", image__isnull=True),
                name="submission_of_an_image_has_one",
            ),
            models.UniqueConstraint(
                fields=["submitted_by", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="submission_once_a_key",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.system} in {self.phase}"

    def get_absolute_url(self) -> str:
        return reverse("submission", args=[self.pk])


def systems_visible_to(user: Any) -> models.QuerySet[System]:
    """Return the systems with a submission that the user may see, and the systems without any submission, of all teams.

    Callers must filter the latter by the user's teams, because only its team may see a system without submissions.
    """
    same = {"system": OuterRef("pk")}
    visible, submitted = Submission.objects.visible_to(user).filter(**same), Submission.objects.filter(**same)
    return System.objects.filter(Exists(visible) | ~Exists(submitted))


def systems_of_teams_of(user: Any) -> models.QuerySet[System]:
    """Return those systems of the user's teams that `systems_visible_to` returns."""
    return systems_visible_to(user).filter(team__in=user.teams.values("pk"))


class QuotaCharge(models.Model):
    """One submission that counts against a team's quota in a phase.

    After a failure of the server, for example, the charge is refunded: it has `refunded_at`, and no longer counts.
    """

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="charge")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="charges")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="charges")
    charged_at = models.DateTimeField()
    refunded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["phase", "team", "charged_at"])]

    def __str__(self) -> str:
        return f"{self.team} in {self.phase}"


class Final(models.Model):
    """A submission to a sealed phase that will be scored when the phase is unsealed. Its other submissions are not."""

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="final")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="finals")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="finals")
    chosen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", help_text="null: by default"
    )
    chosen_at = models.DateTimeField()

    class Meta:
        ordering = ["phase", "team", "chosen_at"]

    def __str__(self) -> str:
        return f"final: {self.submission}"


class Stage(models.TextChoices):
    """Stages in which a worker executes a submitted container, in this order."""

    READING = "reading", "reading the image"
    LOADING = "loading", "handing the image to the engine"
    RUNNING = "running", "the container runs"
    COLLECTING = "collecting", "collecting and checking the predictions"


class Prediction(LeasedWork):
    """The predictions file that is scored: uploaded, or written by one execution of the submission's container image.

    A submission has at most one prediction for each version of the split's inputs (`inputs_sha256`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="predictions")
    file = models.FileField(storage=predictions_storage, upload_to=unguessable_name, blank=True)
    name = models.CharField(max_length=255, help_text="the uploaded name, for messages and downloads")
    sha256 = models.CharField(max_length=64, blank=True)
    bytes = models.PositiveBigIntegerField(default=0)
    n_lines = models.PositiveIntegerField(default=0)
    inputs_sha256 = models.CharField(max_length=64)
    warnings = models.JSONField(default=list, blank=True)
    problems = models.JSONField(default=list, blank=True, help_text="the system's errors, if its output was rejected")
    enqueued_at = models.DateTimeField(null=True, blank=True, help_text="when it was last enqueued for a worker")
    sequence = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="order of receipt among the predictions for a split; null: not ready yet",
    )
    error_id = models.CharField(max_length=40, blank=True, help_text="matches the log event in the operator's log")
    stage = models.CharField(max_length=12, choices=Stage.choices, blank=True, help_text="what a worker is doing")
    log = models.TextField(blank=True, help_text="the end of what the container printed")
    cost = models.JSONField(default=dict, blank=True, help_text="wall, cpu, gpu (s), memory, image (bytes) as measured")
    execution = models.JSONField(default=dict, blank=True, help_text="conditions of the run: limits, image, engine")

    class Meta:
        constraints = [
            *lease_constraints("prediction"),
            models.UniqueConstraint(fields=["submission", "inputs_sha256"], name="one_prediction_an_inputs"),
            models.CheckConstraint(
                condition=~models.Q(state="done") | (~models.Q(file="") & ~models.Q(sha256="")),
                name="prediction_done_has_a_file",
            ),
        ]
        indexes = [models.Index(fields=["state", "queued_at"]), models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return f"predictions of {self.submission}"
