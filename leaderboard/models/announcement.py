"""Announcements of a benchmark's organisers, and extended deadlines."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .benchmark import Benchmark, Phase
from .team import Team


class Announcement(models.Model):
    """A dated announcement of a benchmark's organisers, in Markdown."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="announcements")
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title


class Extension(models.Model):
    """A deadline extension: for everybody, with a public reason, or for one team.

    team: the team that gets more time; only that team and the organisers see the extension. Null: the phase closes
    later for everybody.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="extensions")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE, related_name="extensions")
    before = models.DateTimeField(help_text="when it would have closed")
    closes_at = models.DateTimeField()
    reason = models.CharField(max_length=300)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(closes_at__gt=F("before")), name="extension_is_later"),
        ]

    def __str__(self) -> str:
        return f"{self.phase} until {self.closes_at}"
