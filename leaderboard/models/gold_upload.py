"""Large gold files that a worker checks after their upload."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .correction import Correction
from .dataset import GoldVersion, Split, gold_storage, unguessable_name
from .state import LeasedWork, lease_constraints


class GoldUpload(LeasedWork):
    """A gold file that was too large to be checked during its upload.

    A worker checks it and makes of it what a small file becomes at once: the split's next gold version, or a
    correction. `file` exists only until then. If it is refused, `message` and `problems` say why, as for a small file.
    """

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="gold_uploads")
    name = models.CharField(max_length=255, help_text="of the file that was uploaded")
    file = models.FileField(storage=gold_storage, upload_to=unguessable_name, blank=True)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    version_reason = models.CharField(max_length=1000, blank=True, help_text="of the gold version it becomes")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")
    message = models.TextField(blank=True, help_text="why it was refused")
    problems = models.JSONField(default=list, blank=True, help_text="its invalid lines, if it was refused")
    more = models.PositiveIntegerField(default=0, help_text="number of problems that are not in `problems`")
    gold = models.OneToOneField(GoldVersion, null=True, on_delete=models.CASCADE, related_name="upload")
    correction = models.OneToOneField(Correction, null=True, on_delete=models.CASCADE, related_name="upload")

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = lease_constraints("gold_upload")
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"{self.name} for {self.split}"
