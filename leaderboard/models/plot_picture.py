"""Plots as static pictures, for pages without scripts and for previews of links."""

from __future__ import annotations

from django.db import models

from .leaderboard import Leaderboard
from .state import LeasedWork, lease_constraints


class PlotRendering(LeasedWork):
    """The rendering of a board's plots as pictures, at one revision of the board."""

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="plot_renderings")
    revision = models.PositiveBigIntegerField(help_text="the board's revision that is rendered")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")

    class Meta:
        constraints = [
            *lease_constraints("plot_rendering"),
            models.UniqueConstraint(fields=["leaderboard", "revision"], name="plots_rendered_once_a_revision"),
        ]
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"plots of {self.leaderboard_id} at revision {self.revision}"


class PlotPicture(models.Model):
    """The latest picture of a board's plot. It is served while the plot's specification still has this `digest`."""

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="plot_pictures")
    plot = models.CharField(max_length=20, help_text="its name in leaderboard/plots/catalog.py")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the specification")
    svg = models.TextField()
    png = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["leaderboard", "plot"], name="one_picture_a_plot")]

    def __str__(self) -> str:
        return f"{self.plot} of {self.leaderboard_id}"
