"""Raw files, from which splits are generated, and their uploads."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from evaluator.jsonl.decompress import is_packed

from .chunked_upload import ChunkedUpload
from .dataset import Dataset, gold_storage


def raw_name(instance: models.Model, filename: str) -> str:
    """Return a random name under which a raw file is stored. Only the suffix .gz of `filename` is kept."""
    return f"raw/{uuid.uuid4().hex}{'.gz' if is_packed(filename) else ''}"


class RawFile(models.Model):
    """An uploaded file from which splits may be generated. As secret as gold: it has no URL."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="raw_files")
    name = models.CharField(max_length=255, help_text="name of the uploaded file")
    file = models.FileField(storage=gold_storage, upload_to=raw_name)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField()

    class Meta:
        ordering = ["dataset", "id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "sha256"], name="raw_content_once_a_dataset"),
            models.CheckConstraint(condition=Q(bytes__gte=1), name="raw_file_has_bytes"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.name}"


class RawUpload(ChunkedUpload):
    """An unfinished upload of a raw file. Its chunks are in the storage for gold."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="raw_uploads")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="raw_uploads")

    class Meta:
        ordering = ["-began_at"]
        constraints = [
            models.CheckConstraint(condition=Q(bytes__gte=1), name="raw_upload_has_bytes"),
            models.CheckConstraint(condition=Q(received__lte=F("bytes")), name="raw_upload_within_its_size"),
        ]

    storage = staticmethod(gold_storage)
