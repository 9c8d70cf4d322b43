"""Status reports of workers: the web process has no container engine and learns from them whether there is one."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

FRESH = timedelta(seconds=90)
"""A worker whose last report is older than this counts as gone."""


class WorkerReport(models.Model):
    """The last report of one worker of one queue."""

    queue = models.CharField(max_length=40)
    host = models.CharField(max_length=255)
    ready = models.BooleanField()
    message = models.TextField(blank=True, help_text="why it is not ready, and how to fix it")
    detail = models.JSONField(default=dict, blank=True, help_text="engine, runtime, processors")
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["queue", "host"]
        constraints = [models.UniqueConstraint(fields=["queue", "host"], name="one_report_a_worker")]

    def __str__(self) -> str:
        return f"{self.queue} on {self.host}: {'ready' if self.ready else self.message}"

    @property
    def is_fresh(self) -> bool:
        return timezone.now() - self.seen_at < FRESH
