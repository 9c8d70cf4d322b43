"""Near-duplicate predictions of different teams: the search and its results. Visible to organisers only."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .benchmark import Phase
from .state import LeasedWork, lease_constraints
from .submission import Prediction


class SimilarityCheck(LeasedWork):
    """Search for near-duplicates of one prediction among the predictions of the phase's other teams.

    signature: a short sketch (not a cryptographic digest) of the prediction's answers, empty until a worker has
    computed it. Similar predictions have similar sketches, so sketches select the pairs of predictions to compare
    exactly (`evaluator.similarity.predictions`).
    """

    prediction = models.OneToOneField(Prediction, on_delete=models.CASCADE, related_name="similarity_check")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="similarity_checks")
    signature = models.BinaryField(default=b"")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")

    class Meta:
        verbose_name_plural = "similarity checks"
        constraints = lease_constraints("likeness")
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"similarity check of {self.prediction_id}"


class NearDuplicate(models.Model):
    """A pair of near-duplicate predictions of two teams. `a` is the earlier one, not necessarily the original.

    equal: fraction of units on which both give the same answer, from 0 to 1. shared_errors: among the units on which at
    least one prediction is wrong, the fraction on which both are wrong in the same way; null if there is no such unit.
    If a task's answers are numbers, the order in which they rank the units is compared instead
    (`evaluator.similarity.predictions`).
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="near_duplicates")
    a = models.ForeignKey(Prediction, on_delete=models.CASCADE, related_name="+")
    b = models.ForeignKey(Prediction, on_delete=models.CASCADE, related_name="+")
    equal = models.FloatField()
    shared_errors = models.FloatField(null=True)
    n_units = models.PositiveIntegerField()
    n_errors = models.PositiveIntegerField(help_text="units on which either errs")
    detected_at = models.DateTimeField()
    dismissed_at = models.DateTimeField(null=True, blank=True)
    dismissed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=300, blank=True, help_text="why it was dismissed")

    class Meta:
        ordering = ["-detected_at"]
        verbose_name_plural = "near-duplicates"
        constraints = [
            models.UniqueConstraint(fields=["a", "b"], name="near_duplicate_once_a_pair"),
            models.CheckConstraint(condition=~Q(a=F("b")), name="near_duplicate_of_two"),
            models.CheckConstraint(
                condition=Q(dismissed_at=None, dismissed_by=None, reason="")
                | (Q(dismissed_at__isnull=False, dismissed_by__isnull=False) & ~Q(reason="")),
                name="near_duplicate_dismissed_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.a_id} and {self.b_id}"
