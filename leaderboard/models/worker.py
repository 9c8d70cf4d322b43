"""Status reports of workers, which the web process reads, and the placement of containers on the workers' hosts."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

from .image import Image
from .submission import Prediction
from .team import Team

FRESH = timedelta(seconds=90)
"""A worker whose last report is older than this counts as gone."""


class WorkerReport(models.Model):
    """The last report of the workers that serve one queue on one host.

    draining: True if an operator has asked the host to start no more containers.
    """

    queue = models.CharField(max_length=40)
    host = models.CharField(max_length=255)
    ready = models.BooleanField()
    message = models.TextField(blank=True, help_text="why it is not ready, and how to fix it")
    detail = models.JSONField(default=dict, blank=True, help_text="engine, runtime, processors")
    cpus = models.FloatField(default=0, help_text="processors that it offers to containers; 0: not known")
    memory_bytes = models.PositiveBigIntegerField(default=0, help_text="memory that it offers to containers")
    images = models.JSONField(default=dict, blank=True, help_text="ids of the images on its engine, with their bytes")
    disk_free_bytes = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="free space on its engine's disk; null: not known"
    )
    disk_low = models.BooleanField(default=False, help_text="less is free than the setting ENGINE_DISK_BYTES")
    draining = models.BooleanField(default=False, help_text="an operator is draining it: it starts no container")
    ending = models.BooleanField(default=False, help_text="its worker is ending, and starts no container")
    drained_at = models.DateTimeField(null=True, blank=True, help_text="when nothing ran there any more after that")
    checked_at = models.DateTimeField(null=True, blank=True, help_text="when the engine was last checked in full")
    gpus = models.PositiveSmallIntegerField(default=0, help_text="number of GPUs that it offers to containers")
    gpu_memory_gb = models.PositiveSmallIntegerField(
        default=0, help_text="memory of the smallest of these GPUs in GB (10^9 bytes), rounded down"
    )
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["queue", "host"]
        constraints = [models.UniqueConstraint(fields=["queue", "host"], name="one_report_a_worker")]

    def __str__(self) -> str:
        return f"{self.queue} on {self.host}: {'ready' if self.ready else self.message}"

    @property
    def is_fresh(self) -> bool:
        return timezone.now() - self.seen_at < FRESH

    @property
    def starts_containers(self) -> bool:
        """Return whether the host starts containers: it was ready at its last report, and is not draining or ending.

        The report may be old (see `is_fresh`).
        """
        return self.ready and not self.draining and not self.ending


class Placement(models.Model):
    """The worker on whose host a prediction's container was last started, and the resources that the container gets."""

    prediction = models.OneToOneField(Prediction, primary_key=True, on_delete=models.CASCADE, related_name="placement")
    worker = models.ForeignKey(WorkerReport, on_delete=models.CASCADE, related_name="placements")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="placements")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="placements")
    resources = models.JSONField(help_text="processors, memory and GPUs, by field of Resources")
    claimed_at = models.DateTimeField()

    class Meta:
        ordering = ["-claimed_at"]
        indexes = [models.Index(fields=["team", "-claimed_at"])]

    def __str__(self) -> str:
        return f"{self.prediction} on {self.worker.host}"
