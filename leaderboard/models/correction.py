"""Corrections of gold: uploaded files that await a curator's decision, and rank changes on a board that was replaced.

Also uploads of gold that a worker checks first. The actions are in `leaderboard.datasets.actions.corrections` and
`gold_uploads`.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .dataset import GoldVersion, Split, gold_storage, unguessable_name
from .leaderboard import Leaderboard
from .state import LeasedWork, lease_constraints
from .team import System


class Correction(LeasedWork):
    """A proposed gold file, which a worker compares with the gold version that it would replace (`base`).

    `state` and the lease are those of the comparison. `counts` maps each kind of change to the number of items changed
    in this way, and has no answers; the rows in `items` quote gold. `file` exists only while the decision is pending.
    """

    class Decision(models.TextChoices):
        PENDING = "pending", "waits for confirmation"
        CONFIRMED = "confirmed"
        DROPPED = "dropped"
        EXPIRED = "expired"

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="corrections")
    base = models.ForeignKey(GoldVersion, on_delete=models.CASCADE, related_name="corrected_by")
    name = models.CharField(max_length=255, help_text="of the file that was uploaded")
    file = models.FileField(storage=gold_storage, upload_to=unguessable_name, blank=True)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    inputs_sha256 = models.CharField(max_length=64, help_text="of the inputs made from it")
    counts = models.JSONField(default=dict, blank=True, help_text="number of items by kind of change; empty until done")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")
    expires_at = models.DateTimeField()
    decision = models.CharField(max_length=10, choices=Decision.choices, default=Decision.PENDING)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    gold = models.OneToOneField(
        GoldVersion,
        null=True,
        on_delete=models.CASCADE,
        related_name="correction",
        help_text="the gold version made from it",
    )
    publishes_count = models.BooleanField(default=False, help_text="everybody sees how many items changed")

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = [
            *lease_constraints("correction"),
            models.UniqueConstraint(
                fields=["split"], condition=Q(decision="pending"), name="one_pending_correction_a_split"
            ),
            models.CheckConstraint(
                condition=Q(decision="pending", decided_at=None)
                | (~Q(decision="pending") & Q(decided_at__isnull=False)),
                name="correction_decided_at_a_moment",
            ),
            models.CheckConstraint(
                condition=Q(decision="confirmed", gold__isnull=False) | (~Q(decision="confirmed") & Q(gold=None)),
                name="confirmed_correction_is_a_version",
            ),
        ]
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"correction of {self.base}"

    @property
    def is_pending(self) -> bool:
        """Return whether the correction may still be confirmed or dropped."""
        return self.decision == Correction.Decision.PENDING

    @property
    def changes_inputs(self) -> bool:
        """Return whether the public inputs made from the corrected gold differ from the published inputs."""
        return self.inputs_sha256 != self.split.inputs_sha256


class ChangedItem(models.Model):
    """An item that a correction changes, in the order of the file. It quotes gold: each access is in the audit log."""

    correction = models.ForeignKey(Correction, on_delete=models.CASCADE, related_name="items")
    index = models.PositiveIntegerField(help_text="index among the changed items, from 0")
    item = models.TextField(help_text='its id, as JSON: 1 and "1" are two')
    line = models.PositiveIntegerField(help_text="in the file; for removed items, in the previous version")
    kinds = models.CharField(max_length=120, help_text="kinds of change, such as |answer|slices|")
    changes = models.JSONField(help_text='[{"kind", "field", "before", "after"}]')

    class Meta:
        ordering = ["correction", "index"]
        constraints = [models.UniqueConstraint(fields=["correction", "index"], name="one_changed_item_a_place")]

    def __str__(self) -> str:
        return f"{self.item} in {self.correction}"


class RankChange(models.Model):
    """A system's rank and value on a replaced board (`rank_before`, `value_before`) and on the board that replaced it.

    A null rank or value means that the system was not on that board, or had no rank or value there.
    """

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="rank_changes")
    replaced = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="+")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="rank_changes")
    measure = models.CharField(max_length=60, help_text="the board's primary measure")
    rank_before = models.PositiveIntegerField(null=True)
    value_before = models.FloatField(null=True)
    rank = models.PositiveIntegerField(null=True)
    value = models.FloatField(null=True)

    class Meta:
        ordering = ["-leaderboard__shown_from", "rank", "id"]
        constraints = [models.UniqueConstraint(fields=["leaderboard", "system"], name="one_move_a_board_and_system")]

    def __str__(self) -> str:
        return f"{self.system}: {self.rank_before} to {self.rank}"


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
