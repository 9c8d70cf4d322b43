"""What a release told beside its scores, to be drawn."""

from __future__ import annotations

from django.db import models

from .leaderboard import Release


class Drawing(models.Model):
    """A run's curves, grids and pairs as its phase revealed them. Append-only, as releases are.

    In a table of its own: boards read their releases whole, and most pages draw none of this.
    """

    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="drawing")
    content = models.JSONField(help_text="what evaluator.plots.summary made of the run's outcomes")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["release"]

    def __str__(self) -> str:
        return f"drawing of {self.release}"
