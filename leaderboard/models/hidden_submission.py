"""Submissions that are hidden from the boards of their phase, by organisers or by their own team."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .submission import Submission


class HiddenSubmissionQuerySet(models.QuerySet["HiddenSubmission"]):
    def now(self) -> HiddenSubmissionQuerySet:
        """Return the periods that are ongoing: one or two rows for each submission that is hidden now."""
        return self.filter(unhidden_at=None)

    def at(self, moment: datetime) -> HiddenSubmissionQuerySet:
        """Return the periods that were ongoing immediately before the time `moment`.

        A period that began exactly at `moment` is left out; one that ended exactly then is included.
        """
        return self.filter(Q(unhidden_at=None) | Q(unhidden_at__gte=moment), hidden_at__lt=moment)


class HiddenSubmission(models.Model):
    """A period in which a submission is hidden from all boards; ongoing while `unhidden_at` is null.

    Organisers and the team hide independently: a submission is on the boards while neither hides it.
    """

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="hidings")
    by_team = models.BooleanField(default=False, help_text="hidden by its own team, not by organisers")
    reason = models.CharField(
        max_length=300, blank=True, help_text="shown to its team and the organisers only; a team may give none"
    )
    hidden_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    hidden_at = models.DateTimeField()
    unhidden_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    unhidden_at = models.DateTimeField(null=True)

    objects = HiddenSubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-hidden_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "by_team"], condition=Q(unhidden_at=None), name="hidden_once_at_a_time"
            ),
            models.CheckConstraint(condition=~Q(reason="") | Q(by_team=True), name="hidden_for_a_reason"),
            models.CheckConstraint(
                condition=Q(unhidden_at=None, unhidden_by=None)
                | Q(unhidden_at__gte=F("hidden_at"), unhidden_by__isnull=False),
                name="unhidden_by_somebody_later",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.submission} since {self.hidden_at:%Y-%m-%d %H:%M}"
