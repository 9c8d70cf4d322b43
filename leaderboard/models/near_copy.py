"""Predictions that are nearly another team's: the looking, and what was found. For a benchmark's organisers alone."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .benchmark import Phase
from .state import Life, life_constraints
from .submission import Prediction


class Likeness(Life):
    """One prediction's signature, and the work of looking for its likes among other teams' in the phase.

    signature: numbers that two predictions share the more of, the more alike they are
    (`evaluator.similarity.predictions`); it is made of the answers alone. Empty until a worker has made it, and it is
    there before the worker looks around.
    """

    prediction = models.OneToOneField(Prediction, on_delete=models.CASCADE, related_name="likeness")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="likenesses")
    signature = models.BinaryField(default=b"")
    rung_at = models.DateTimeField(help_text="when a worker was last told of it")

    class Meta:
        verbose_name_plural = "likenesses"
        constraints = life_constraints("likeness")
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"likeness of {self.prediction_id}"


class NearCopy(models.Model):
    """Two teams' predictions that are nearly the same. The earlier one is `a`; which was copied, it does not say.

    equal: share of equal answers; shared_errors: of the units where either errs, the share where both err alike; none
    where neither errs.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="near_copies")
    a = models.ForeignKey(Prediction, on_delete=models.CASCADE, related_name="+")
    b = models.ForeignKey(Prediction, on_delete=models.CASCADE, related_name="+")
    equal = models.FloatField()
    shared_errors = models.FloatField(null=True)
    n_units = models.PositiveIntegerField()
    n_errors = models.PositiveIntegerField(help_text="units where either errs")
    found_at = models.DateTimeField()
    dismissed_at = models.DateTimeField(null=True, blank=True)
    dismissed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=300, blank=True, help_text="why it is no matter")

    class Meta:
        ordering = ["-found_at"]
        verbose_name_plural = "near-copies"
        constraints = [
            models.UniqueConstraint(fields=["a", "b"], name="near_copy_once_a_pair"),
            models.CheckConstraint(condition=~Q(a=F("b")), name="near_copy_of_two"),
            models.CheckConstraint(
                condition=Q(dismissed_at=None, dismissed_by=None, reason="")
                | (Q(dismissed_at__isnull=False, dismissed_by__isnull=False) & ~Q(reason="")),
                name="near_copy_dismissed_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.a_id} and {self.b_id}"
