"""Exported archives of benchmarks, and uploaded archives that wait to be imported."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from .benchmark import Benchmark
from .state import ACTIVE, LeasedWork, Reason, State, lease_constraints

RETENTION = timedelta(days=1)
"""Time after which exported archives, and uploaded archives with the record of their import, are deleted."""


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
    sealed_passphrase = models.BinaryField(
        null=True,
        help_text="the passphrase, encrypted with SECRET_KEY, until a worker has made `protected_key`",
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


class ArchiveImport(LeasedWork):
    """An archive of a benchmark that a curator uploaded, and its import.

    A worker first checks the readable part. Once a curator has entered the key, a worker imports the archive. The row
    stays for RETENTION, the file until the archive is imported.

    head: decoded content of archive.json, an unencrypted file in the archive (`archives.actions.reading.Head`).
    progress: lines of text about the tables read so far. problems: why it was rejected, a line of text each. result:
    {"slug", "title", "renamed"} of the imported benchmark (`archives.actions.reading.Imported`); null until then.
    """

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(max_length=20, choices=Reason.choices, default=Reason.NONE, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    queued_at = models.DateTimeField(db_default=Now())
    enqueued_at = models.DateTimeField(db_default=Now(), help_text="when it was last enqueued for a worker")
    file = models.FileField(storage=archives_storage, upload_to=unguessable_archive)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    head = models.JSONField()
    is_checked = models.BooleanField(default=False, help_text="its readable part is unaltered")
    sealed_key = models.BinaryField(
        null=True,
        help_text="the key that a curator entered, encrypted with SECRET_KEY; null unless in use",
    )
    progress = models.JSONField(default=list, blank=True)
    problems = models.JSONField(default=list, blank=True)
    result = models.JSONField(null=True, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    imported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]
        constraints = lease_constraints("archive_import")
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"archive {self.name}"

    @property
    def may_be_imported(self) -> bool:
        """Return whether a curator may enter its key now."""
        return self.is_over and self.is_checked and self.result is None
