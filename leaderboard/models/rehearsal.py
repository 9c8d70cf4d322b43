"""Rehearsals of a phase before it opens, by its organisers and invited testers, on a separate benchmark."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Max, Q

from .benchmark import Benchmark, Phase


class Rehearsal(models.Model):
    """One rehearsal of a phase, on a separate benchmark that has a copy of the phase.

    benchmark: that benchmark, in the state REHEARSAL. It is never public, and keeps its submissions afterwards.
    testers: users besides the organisers who see the rehearsal and may submit, until somebody ends it or its deadline
    passes; after that only its managers see it.
    ended_by: the user who ended the rehearsal; if the deadline ended it, the user who began it.
    """

    benchmark = models.OneToOneField(Benchmark, on_delete=models.PROTECT, related_name="rehearsal")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="rehearsals")
    testers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="rehearsals", blank=True)
    begun_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    begun_at = models.DateTimeField()
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-begun_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["phase"], condition=Q(ended_at=None), name="one_rehearsal_of_a_phase_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="rehearsal_ended_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"rehearsal of {self.phase}"

    @property
    def last_deadline(self) -> datetime:
        """Return the last deadline in the rehearsal, including extensions for single teams.

        Return `begun_at` if the rehearsal has no deadline.
        """
        ends = self.benchmark.phases.aggregate(phase=Max("closes_at"), team=Max("extensions__closes_at"))
        return max(filter(None, ends.values()), default=self.begun_at)

    @property
    def over_since(self) -> datetime | None:
        """Return when a user ended the rehearsal or its last deadline passed; None while the rehearsal is ongoing."""
        if Benchmark.objects.ongoing_rehearsals().filter(pk=self.benchmark_id).exists():
            return None
        return self.ended_at or self.last_deadline

    @property
    def is_over(self) -> bool:
        return self.over_since is not None
