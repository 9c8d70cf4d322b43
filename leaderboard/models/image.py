"""Submitted container images, and their uploads."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q

from .benchmark import Benchmark, Phase
from .chunked_upload import RETENTION, ChunkedUpload

__all__ = ["DIGEST", "RETENTION", "Image", "ImageUpload", "archive_name", "images_storage"]

DIGEST = RegexValidator(r"\Asha256:[0-9a-f]{64}\Z", "expected sha256: and 64 hexadecimal digits")


def images_storage() -> Storage:
    return storages["images"]


def archive_name(instance: models.Model, filename: str) -> str:
    return f"archives/{uuid.uuid4().hex}.tar"


class Image(models.Model):
    """A container image: an uploaded archive, or a reference with digest to an image in a registry.

    Equal archives, and equal references, share one row.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    archive = models.FileField(storage=images_storage, upload_to=archive_name, blank=True)
    archive_sha256 = models.CharField(max_length=64, blank=True, help_text="of the bytes received")
    archive_bytes = models.PositiveBigIntegerField(default=0)
    reference = models.CharField(max_length=400, blank=True, help_text="registry/name@sha256:..., for a pulled image")
    digest = models.CharField(
        max_length=71, blank=True, validators=[DIGEST], help_text="the engine's image id; empty until inspected"
    )
    unpacked_bytes = models.PositiveBigIntegerField(default=0, help_text="size of all layers, after inspection")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(~Q(archive="") & ~Q(archive_sha256="") & Q(reference=""))
                | (Q(archive="") & Q(archive_sha256="") & ~Q(reference="")),
                name="image_is_an_archive_or_a_reference",
            ),
            models.UniqueConstraint(
                fields=["archive_sha256"], condition=~Q(archive_sha256=""), name="image_archive_once"
            ),
            models.UniqueConstraint(fields=["reference"], condition=~Q(reference=""), name="image_reference_once"),
        ]

    def __str__(self) -> str:
        return self.reference or f"archive {self.archive_sha256[:12]}"


class ImageUpload(ChunkedUpload):
    """An unfinished upload of an image archive, as a submission to a phase or as a scorer of a benchmark."""

    phase = models.ForeignKey(Phase, null=True, on_delete=models.CASCADE, related_name="image_uploads")
    benchmark = models.ForeignKey(
        Benchmark,
        null=True,
        on_delete=models.CASCADE,
        related_name="scorer_uploads",
        help_text="instead of a phase: the image becomes a scorer of this benchmark",
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="image_uploads")

    class Meta:
        ordering = ["-began_at"]
        constraints = [
            models.CheckConstraint(condition=Q(bytes__gte=1), name="image_upload_has_bytes"),
            models.CheckConstraint(
                condition=Q(phase__isnull=False, benchmark=None) | Q(phase=None, benchmark__isnull=False),
                name="image_upload_is_a_systems_or_a_scorers",
            ),
            models.CheckConstraint(condition=Q(received__lte=F("bytes")), name="image_upload_within_its_size"),
        ]

    storage = staticmethod(images_storage)
