"""Base model of chunked uploads: a file is sent in several requests, each with the next chunk of the file."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.core.files.storage import Storage
from django.db import models

RETENTION = timedelta(days=2)
"""An unfinished upload is deleted if it gets no chunk for this long."""


class UploadPiece(models.Model):
    """A stored piece of a chunked upload: a row of its own, so that each costs the same, however many came before.

    upload: primary key of a ChunkedUpload of any kind. offset: position of its first byte. name: of its file.
    """

    upload = models.UUIDField()
    offset = models.PositiveBigIntegerField()
    name = models.CharField(max_length=255)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["upload", "offset"], name="one_piece_at_an_offset")]

    def __str__(self) -> str:
        return self.name


class ChunkedUpload(models.Model):
    """Abstract model of a chunked upload; `core/chunked_upload.py` has the actions on it.

    received: number of bytes that are stored, which is the offset at which an interrupted upload resumes. Subclasses
    have a field `by`, the user who sends the file.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=255, help_text="the file's name, for messages")
    bytes = models.PositiveBigIntegerField(help_text="announced")
    sha256 = models.CharField(max_length=64, blank=True, help_text="announced, if the sender knows it")
    received = models.PositiveBigIntegerField(default=0)
    metadata = models.TextField(blank=True, default="", help_text="the header Upload-Metadata, as it was sent")
    began_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.name}: {self.received} of {self.bytes} bytes"

    @staticmethod
    def storage() -> Storage:
        """Return the storage in which the chunks are kept until the upload is complete and they are joined."""
        raise NotImplementedError

    @property
    def pieces(self) -> list[str]:
        """Names of the stored files, in order."""
        rows = UploadPiece.objects.filter(upload=self.pk).order_by("offset")
        return list(rows.values_list("name", flat=True))

    @property
    def expires_at(self) -> datetime:
        return self.touched_at + RETENTION

    @property
    def is_whole(self) -> bool:
        return self.received == self.bytes
