"""Additional public files of a dataset."""

from __future__ import annotations

import uuid

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from .dataset import Dataset, inputs_storage


def stored_name(download: Download, _: str) -> str:
    """Return a random name under which a download is stored, with its suffix. The uploaded name is ignored."""
    return f"download/{uuid.uuid4().hex}{download.suffix}"


class Download(models.Model):
    """An additional public file of a dataset, such as a knowledge graph, a document collection or a list of mentions.

    A row and its file never change, so that everybody who downloads the file gets the same bytes.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="downloads")
    name = models.SlugField(max_length=80)
    title = models.CharField(max_length=200, help_text="one line")
    description = models.TextField(blank=True, help_text="its format and purpose")
    suffix = models.CharField(
        max_length=20,
        validators=[RegexValidator(r"\A(\.[a-z0-9]{1,9}){1,2}\Z", "expected one such as .tsv or .jsonl.gz")],
    )
    file = models.FileField(storage=inputs_storage, upload_to=stored_name)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dataset", "id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="download_name_once_a_dataset"),
            models.CheckConstraint(condition=~Q(file="") & ~Q(sha256=""), name="download_has_a_file"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug}/{self.name}{self.suffix}"

    @property
    def filename(self) -> str:
        """Return the file name that a browser suggests for the download: dataset, name and suffix."""
        return f"{self.dataset.slug}-{self.name}{self.suffix}"
