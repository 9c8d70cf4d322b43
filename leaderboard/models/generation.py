"""Runs of generators, which make parts of a dataset from raw files.

A run is called a preview until draft splits are created from its parts.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .dataset import Dataset, Split
from .raw_file import RawFile
from .state import LeasedWork, lease_constraints


class Generation(LeasedWork):
    """One run of a generator by a scoring worker, and its results.

    The output is a deterministic function of raw files, generator, version, parameters, seed and salt. Whoever knows
    seed and salt and has the raw files can make the same hidden split, so only the benchmark's managers may see seed
    and salt. `report`, `problems` and the parts quote gold.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="generations")
    generator = models.CharField(max_length=60, help_text="a name in evaluator.curation.generators.catalog")
    version = models.PositiveSmallIntegerField(help_text="of the generator")
    parameters = models.JSONField(default=dict, help_text="the generator's parameters, as entered")
    options = models.JSONField(default=dict, blank=True, help_text="the task's options for the new splits")
    seed = models.PositiveBigIntegerField(help_text="of all random choices; as secret as gold")
    salt = models.CharField(max_length=64, help_text="of the generated ids; as secret as gold")
    code_sha256 = models.CharField(
        max_length=64, blank=True, help_text="code digest of the sandbox that ran the generator"
    )
    report = models.JSONField(default=dict, blank=True, help_text="the generator's report; empty until done")
    problems = models.JSONField(default=list, blank=True, help_text="problems of the input, if rejected")
    more_problems = models.PositiveIntegerField(default=0)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = lease_constraints("generation")
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.generator} {self.pk}"


class GeneratedFrom(models.Model):
    """A raw file that a generator's run reads, and its role: the name of the generator's source that the file is."""

    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="sources")
    raw = models.ForeignKey(RawFile, on_delete=models.PROTECT, related_name="uses")
    role = models.CharField(max_length=60)
    index = models.PositiveSmallIntegerField(help_text="index among the generation's files, from 0")

    class Meta:
        ordering = ["generation", "index"]
        constraints = [models.UniqueConstraint(fields=["generation", "index"], name="one_source_a_place")]

    def __str__(self) -> str:
        return f"{self.raw} as {self.role}"


class GeneratedPart(models.Model):
    """One part of a generator's output: the gold of a future split.

    The part's content is not stored, because scoring workers cannot write gold storage. When a draft split is created
    from the part, the content is generated again and its SHA-256 digest verified.
    """

    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="parts")
    index = models.PositiveSmallIntegerField(help_text="index in the generator's order, from 0")
    name = models.SlugField(max_length=80)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    facts = models.JSONField(default=dict, help_text="units, groups, slices, label balance; empty until checked")
    first = models.JSONField(default=list, help_text="its first lines, as [inputs, gold]")
    split = models.OneToOneField(Split, null=True, on_delete=models.SET_NULL, related_name="generated")

    class Meta:
        ordering = ["generation", "index"]
        constraints = [
            models.UniqueConstraint(fields=["generation", "index"], name="one_part_a_place"),
            models.UniqueConstraint(fields=["generation", "name"], name="one_part_a_name"),
            models.CheckConstraint(condition=~Q(sha256=""), name="generated_part_has_a_digest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.generation}"
