"""Custom scorers: organisers' container images that score a phase in place of the scorer built into its task."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from .benchmark import Benchmark
from .image import Image


class Scorer(models.Model):
    """One immutable version of a benchmark's custom scorer: an image and its measures. A change creates a new version.

    The task still defines formats, validation of uploads, public inputs and options. In a phase with a custom scorer,
    runs and boards store the scorer's `number` as their task version, so that attaching a later version of the scorer
    causes rescoring. The database refuses updates of these rows (migration `scorers`).
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="scorers")
    number = models.PositiveIntegerField()
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="scorers")
    measures = models.JSONField(help_text='[{"name", "title", "doc", "lower", "upper", "higher_is_better"}]')
    primary = models.CharField(max_length=60, help_text="the measure that ranks")
    reason = models.TextField(help_text="why this version exists")
    created_by = models.ForeignKey("User", null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["benchmark", "number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="scorer_number_once_a_benchmark"),
            models.CheckConstraint(condition=Q(number__gte=1), name="scorer_numbers_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark.slug} scorer {self.number}"
