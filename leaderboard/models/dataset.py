"""Datasets, their splits, and the immutable versions of a split's gold."""

from __future__ import annotations

import uuid

from django.apps import apps
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import F, Q

from evaluator.jsonl.decompress import is_packed


def gold_storage() -> Storage:
    return storages["gold"]


def inputs_storage() -> Storage:
    return storages["inputs"]


def unguessable_name(instance: models.Model, filename: str) -> str:
    """Return a random name under which a JSON Lines file is stored. Only the suffix .gz of `filename` is kept."""
    suffix = ".jsonl.gz" if is_packed(filename) else ".jsonl"
    return f"{instance._meta.model_name}/{uuid.uuid4().hex}{suffix}"


class Dataset(models.Model):
    """A dataset for one task, which consists of splits."""

    slug = models.SlugField(unique=True, max_length=80)
    title = models.CharField(max_length=200)
    task = models.CharField(max_length=60, help_text="a name in evaluator.tasks.registry.TASKS")
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    citation = models.TextField(blank=True)
    source_url = models.URLField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class SplitQuerySet(models.QuerySet["Split"]):
    def visible_to(self, user: object) -> SplitQuerySet:
        """Return the splits that the user may see: all except drafts, and drafts that the user may manage or test.

        The user manages the splits of benchmarks that the user organises (a curator all), and tests those of the phases
        of drafts in which the user is a tester.
        """
        published = ~Q(state=Split.State.DRAFT)
        if not getattr(user, "is_authenticated", False):
            return self.filter(published)
        if getattr(user, "is_curator", False):
            return self
        drafts = apps.get_model("leaderboard", "Benchmark").objects.tested_by(user)
        tested = Q(phases__benchmark__in=drafts.values("pk"))
        return self.filter(published | Q(dataset__benchmarks__organisers=user) | tested).distinct()


class Split(models.Model):
    """A named part of a dataset. Its inputs are usually public; its gold is public (train, dev) or held out.

    Only its managers and testers see a draft. The inputs of a published split never change; its gold may be corrected.
    A retired split remains readable, but its phases accept no submissions.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        PUBLISHED = "published"
        RETIRED = "retired"

    class Kind(models.TextChoices):
        TRAIN = "train"
        DEV = "dev"
        TEST = "test"
        FOLD = "fold"

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="splits")
    name = models.SlugField(max_length=80)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    gold_public = models.BooleanField(default=False)
    inputs_public = models.BooleanField(default=True, help_text="if false, only containers see the inputs")
    options = models.JSONField(default=dict, blank=True, help_text="the task's options for this split")
    inputs = models.FileField(storage=inputs_storage, upload_to=unguessable_name, blank=True)
    inputs_sha256 = models.CharField(max_length=64, blank=True)
    inputs_bytes = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    published_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)
    retired_reason = models.CharField(max_length=500, blank=True, help_text="shown to everybody")
    last_sequence = models.PositiveIntegerField(
        default=0, editable=False, help_text="the highest Prediction.sequence assigned in phases of this split"
    )

    objects = SplitQuerySet.as_manager()

    class Meta:
        ordering = ["dataset", "id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="split_name_once_a_dataset"),
            models.CheckConstraint(
                condition=(Q(inputs="") & Q(inputs_sha256="")) | (~Q(inputs="") & ~Q(inputs_sha256="")),
                name="split_inputs_have_a_digest",
            ),
            models.CheckConstraint(
                condition=Q(state="draft", published_at=None)
                | Q(state__in=("published", "retired"), published_at__isnull=False),
                name="split_published_at_a_moment",
            ),
            models.CheckConstraint(
                condition=(Q(state="retired", retired_at__isnull=False) & ~Q(retired_reason=""))
                | (~Q(state="retired") & Q(retired_at=None, retired_reason="")),
                name="split_retired_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug}/{self.name}"

    @property
    def is_published(self) -> bool:
        """Return whether the split is published and not retired, so that its phases may accept submissions."""
        return self.state == Split.State.PUBLISHED

    @property
    def is_draft(self) -> bool:
        """Return whether the split is a draft, whose data only its managers and testers of a draft benchmark see."""
        return self.state == Split.State.DRAFT

    @property
    def current_gold(self) -> GoldVersion | None:
        return self.gold_versions.order_by("-number").first()


class GoldVersion(models.Model):
    """One immutable version of a split's gold, identified by its sha256. A correction creates the next version.

    The database refuses updates of these rows (`leaderboard/migrations/_operations.py`).
    """

    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="gold_versions")
    number = models.PositiveIntegerField()
    file = models.FileField(storage=gold_storage, upload_to=unguessable_name)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    n_lines = models.PositiveIntegerField()
    n_units = models.PositiveIntegerField()
    n_groups = models.PositiveIntegerField()
    dimensions = models.JSONField(help_text="dimension -> its values, as shown")
    measures = models.JSONField(help_text="names of the measures that exist for this gold")
    primary = models.CharField(max_length=60)
    expects = models.JSONField(help_text="public facts that validation needs")
    warnings = models.JSONField(default=list)
    reason = models.TextField(help_text="why this version exists")
    created_by = models.ForeignKey("User", null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["split", "number"]
        constraints = [
            models.UniqueConstraint(fields=["split", "number"], name="gold_number_once_a_split"),
            models.UniqueConstraint(fields=["split", "sha256"], name="gold_content_once_a_split"),
            models.CheckConstraint(condition=Q(number__gte=1), name="gold_numbers_from_one"),
            models.CheckConstraint(
                condition=Q(n_groups__lte=F("n_units")) & Q(n_units__gte=1), name="gold_has_units_in_groups"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.split} gold v{self.number}"


class PublicPrivatePartition(models.Model):
    """The division of a gold version's groups into public and private ones. It is never edited.

    Each new version of the gold has a separate division. `file` lists the public and the private groups; it is as
    secret as gold, because it reveals the groups on which public scores do not depend.
    """

    gold = models.OneToOneField(GoldVersion, on_delete=models.CASCADE, related_name="partition")
    share = models.DecimalField(max_digits=7, decimal_places=6, help_text="requested fraction of public groups")
    seed = models.PositiveBigIntegerField(help_text="of the random partition")
    n_public = models.PositiveIntegerField(help_text="groups")
    n_private = models.PositiveIntegerField(help_text="groups")
    file = models.FileField(storage=gold_storage, upload_to=unguessable_name)
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey("User", null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(n_public__gte=1) & Q(n_private__gte=1), name="both_halves_have_groups")
        ]

    def __str__(self) -> str:
        return f"public/private split of {self.gold}"
