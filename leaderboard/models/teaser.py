"""Teaser pictures of benchmarks."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.urls import reverse

from .benchmark import Benchmark
from .dataset import inputs_storage

SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg"}


def stored_name(instance: Teaser, filename: str) -> str:
    """Return a random stored name, independent of the uploaded one."""
    return f"teaser/{uuid.uuid4().hex}{SUFFIXES[instance.media_type]}"


class Teaser(models.Model):
    """The picture of a benchmark: on its page, on its card, and in previews of links to it."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.PROTECT, related_name="teaser")
    file = models.FileField(storage=inputs_storage, upload_to=stored_name)
    media_type = models.CharField(max_length=10, choices=[(media_type, media_type) for media_type in SUFFIXES])
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveIntegerField()
    width = models.PositiveSmallIntegerField(help_text="in pixels")
    height = models.PositiveSmallIntegerField(help_text="in pixels")
    alternative_text = models.CharField(max_length=300, help_text="what the picture shows, for those who do not see it")
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # Archives may come from anybody, and browsers run scripts in other types, such as SVG.
            models.CheckConstraint(condition=Q(media_type__in=SUFFIXES), name="teaser_is_png_or_jpeg"),
        ]

    def __str__(self) -> str:
        return f"picture of {self.benchmark}"

    def get_absolute_url(self) -> str:
        return reverse("teaser", args=[self.benchmark.slug, self.sha256])
