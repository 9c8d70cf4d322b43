"""Exported archives of benchmarks, and uploaded archives that wait to be imported."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q

from .benchmark import Benchmark
from .state import ACTIVE, LeasedWork, lease_constraints

RETENTION = timedelta(days=1)
"""Time after which exported archives, and uploaded archives that were not imported, are deleted."""


def archives_storage() -> Storage:
    return storages["archives"]


def unguessable_archive(instance: models.Model, filename: str) -> str:
    return f"{instance._meta.model_name}/{uuid.uuid4().hex}.zip"


class ArchiveExport(LeasedWork):
    """A whole benchmark exported to one file by a worker, accessible only to the user who requested it.

    recipients: public keys for which the archive is encrypted, one per line; anybody with a matching secret key can
    read gold in it. progress: lines of text about the files written so far.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="exports")
    recipients = models.TextField(blank=True, help_text="empty: the closed part is left out")
    protected_key = models.BinaryField(
        default=b"", help_text="secret key of the first recipient, encrypted with a passphrase; empty: none"
    )
    progress = models.JSONField(default=list, blank=True)
    file = models.FileField(storage=archives_storage, upload_to=unguessable_archive, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    bytes = models.PositiveBigIntegerField(default=0)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = [
            *lease_constraints("archive_export"),
            models.UniqueConstraint(
                fields=["benchmark", "requested_by"],
                condition=Q(state__in=ACTIVE),
                name="one_export_at_a_time",
            ),
        ]
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"archive of {self.benchmark}"

    @property
    def pasted_keys(self) -> list[str]:
        """Return the public keys that the user entered: `recipients` without the key made from a passphrase."""
        return self.recipients.splitlines()[1 if self.protected_key else 0 :]


class ArchiveImport(models.Model):
    """An archive of a benchmark that a curator uploaded and that is not imported yet.

    head: decoded content of archive.json, an unencrypted file in the archive (`archives.actions.reading.Head`).
    """

    file = models.FileField(storage=archives_storage, upload_to=unguessable_archive)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    head = models.JSONField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"archive {self.name}"
