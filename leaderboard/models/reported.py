"""Results of systems that papers report and that this site has not scored."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models

from leaderboard.models import reported_numbers

from .benchmark import Benchmark


class ReportedResult(models.Model):
    """A system's results copied from a paper, as one row of a board. Boards mark it as reported and never rank it."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="reported_results")
    system = models.CharField(max_length=200)
    paper = models.CharField(max_length=300)
    table = models.CharField(max_length=100, blank=True)
    split = models.CharField(max_length=200, help_text="the split it was measured on, in the paper's words")
    same_split = models.BooleanField(default=False, help_text="measured on the split that this benchmark shows")
    values = models.JSONField(help_text='[{"measure": ..., "slice": {...}, "value": ..., "shown": "as printed"}]')
    track = models.CharField(max_length=80, blank=True, help_text="the phases' track that it belongs to, by name")
    note = models.CharField(max_length=300, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["benchmark", "position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "system", "paper", "table", "split"], name="reported_row_once")
        ]

    def __str__(self) -> str:
        return f"{self.system} ({self.paper})"

    def clean(self) -> None:
        """Raise ValidationError if `values` is invalid. Tables show these numbers without further checks."""
        if self.values is None:  # the field's own validation reports it
            return
        try:
            reported_numbers.check(self.values, task=self.benchmark.task if self.benchmark_id else None)
        except ValueError as error:
            raise ValidationError({"values": str(error)}) from None

    def numbers(self, *, task: str) -> list[reported_numbers.Value]:
        """Return `values` as objects. They are validated again, because a row may have been stored without validation.

        task: name of the benchmark's task; other measures than the task's are invalid. Raises ValueError for invalid
        values; the message says what was found and expected.
        """
        return reported_numbers.check(self.values, task=task)
