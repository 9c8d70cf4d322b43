"""Releases (revealed scores), and leaderboards, which are built from releases only."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .benchmark import Phase
from .dataset import GoldVersion
from .run import Run
from .submission import Submission
from .team import System


class Release(models.Model):
    """The scores of one run that the phase revealed, as the phase's disclosure policy allows.

    `sequence` numbers a phase's releases from 1, in the order of their creation. The database refuses updates of rows.
    """

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="releases")
    sequence = models.PositiveIntegerField()
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="release")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="releases")
    policy = models.CharField(max_length=10)
    primary = models.CharField(max_length=60)
    values = models.JSONField(help_text='[{"measure", "slice", "value", "low", "high", "n"}] as revealed')
    warnings = models.JSONField(default=list)
    cost = models.JSONField(null=True, help_text="of the container, rounded (costs.py); null: not revealed")
    released_at = models.DateTimeField()

    class Meta:
        ordering = ["phase", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "sequence"], name="releases_in_sequence"),
        ]
        indexes = [models.Index(fields=["phase"], condition=Q(cost__isnull=False), name="release_with_cost")]

    def __str__(self) -> str:
        return f"release {self.sequence} of {self.phase}"


class ReleaseSlice(models.Model):
    """The scores of a release on one slice, copied from `Release.values` to sort and paginate boards in SQL."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="slices")
    slice_key = models.CharField(max_length=2000, blank=True, help_text="the slice as canonical JSON; empty: all units")
    dimensions = models.CharField(
        max_length=2000, blank=True, help_text="the slice's dimensions, in order, as a JSON list"
    )
    scores = models.JSONField(help_text="{measure: [value, low, high, n]}")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "slice_key"], name="release_tells_a_slice_once")]

    def __str__(self) -> str:
        return f"{self.release} on {self.slice_key or 'the whole'}"


class Leaderboard(models.Model):
    """A leaderboard: the ranking of systems in one phase, by one gold version and one task version."""

    class State(models.TextChoices):
        PREPARING = "preparing"
        CURRENT = "current"
        FROZEN = "frozen"
        CANCELLED = "cancelled"

    PUBLIC = (State.CURRENT, State.FROZEN)
    OPEN = (State.PREPARING, State.CURRENT)
    """States in which a leaderboard receives the results of runs."""

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="leaderboards")
    gold_version = models.ForeignKey(GoldVersion, on_delete=models.PROTECT, related_name="leaderboards")
    task_version = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices)
    created_at = models.DateTimeField(auto_now_add=True)
    shown_from = models.DateTimeField(null=True, help_text="when it became current; null: never")
    revision = models.PositiveBigIntegerField(default=0, help_text="incremented by every change of the board")
    slice_groups = models.JSONField(
        default=dict, help_text="of a ladder: {slice key: {measure: number of groups}}, which set its steps"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["phase"], condition=Q(state="current"), name="one_current_leaderboard_a_phase"
            ),
            models.UniqueConstraint(
                fields=["phase", "gold_version", "task_version"], name="one_leaderboard_a_gold_and_task"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.phase}, gold v{self.gold_version.number}, task v{self.task_version}"


class Standing(models.Model):
    """One row of a leaderboard: a system, and the release whose scores the row shows."""

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="standings")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="standings")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="standings")
    value = models.FloatField(null=True, help_text="the primary measure, as revealed")
    received_at = models.DateTimeField(null=True, help_text="when the release's submission was received; orders ties")
    rank = models.PositiveIntegerField(null=True, help_text="shared by ties; none for rows that do not compete")
    rank_low = models.PositiveIntegerField(
        null=True, help_text="1 + number of significantly better systems; see Ranking"
    )
    rank_high = models.PositiveIntegerField(
        null=True, help_text="number of competing systems minus those significantly worse"
    )
    disqualified = models.CharField(max_length=300, blank=True, help_text="the public reason; empty: not disqualified")

    class Meta:
        ordering = ["leaderboard", "rank", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(disqualified="") | Q(rank=None), name="disqualified_has_no_rank"),
            models.UniqueConstraint(fields=["leaderboard", "system"], name="one_standing_a_system"),
            models.CheckConstraint(
                condition=Q(rank_low=None, rank_high=None)
                | Q(rank__isnull=False, rank_low__isnull=False, rank_high__isnull=False)
                & Q(rank_low__lte=F("rank"), rank_high__gte=F("rank")),
                name="rank_lies_in_its_range",
            ),
        ]
        # The newest results of a board, and its best ones, are found without reading all of its rows.
        indexes = [
            models.Index(fields=["leaderboard", "release"], name="standing_by_release"),
            models.Index(fields=["leaderboard", "value"], name="standing_by_value"),
        ]

    def __str__(self) -> str:
        return f"{self.rank}. {self.system}"


class PastStanding(models.Model):
    """A period in which a release represented a system on a leaderboard; ongoing while `until` is null.

    Boards as of a past day are read from these rows, which are derived from releases, hidden submissions and the audit
    trail (boards/actions/past_standings.py).
    """

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="past_standings")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="+")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="+")
    value = models.FloatField(null=True, help_text="the primary measure, as revealed")
    received_at = models.DateTimeField(help_text="when the release's submission was received; orders ties")
    disqualified = models.CharField(max_length=300, blank=True, help_text="the public reason; empty: not disqualified")
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["leaderboard", "system", "since"]
        constraints = [
            models.UniqueConstraint(fields=["leaderboard", "system", "since"], name="one_past_standing_at_a_time"),
        ]
        indexes = [models.Index(fields=["leaderboard", "value"], name="past_standing_by_value")]

    def __str__(self) -> str:
        return f"{self.system} since {self.since:%Y-%m-%d %H:%M}"


class BoardHistory(models.Model):
    """How far the past standings of a leaderboard have been derived.

    release, entry: primary keys of the last release and the last audit entry that were read. is_complete: whether none
    was left then. Each change of the board reads what is new, and the sweep what is left.
    """

    leaderboard = models.OneToOneField(Leaderboard, on_delete=models.CASCADE, related_name="history")
    is_complete = models.BooleanField(default=False)
    release = models.PositiveBigIntegerField(default=0)
    entry = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["leaderboard"]

    def __str__(self) -> str:
        return f"history of {self.leaderboard}"


class Disqualification(models.Model):
    """The decision of organisers to take a system out of a phase's ranking. Frozen leaderboards stay as they were."""

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="disqualifications")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="disqualifications")
    reason = models.CharField(max_length=300, help_text="shown to everybody")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["phase", "created_at"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "system"], name="one_disqualification_a_phase_and_system"),
            models.CheckConstraint(condition=~Q(reason=""), name="disqualification_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.system} in {self.phase}: {self.reason}"


class Representative(models.Model):
    """The submission that a team has chosen to represent a system in a phase, instead of the system's best one."""

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="representatives")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="representatives")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="+")
    chosen_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    chosen_at = models.DateTimeField()

    class Meta:
        ordering = ["phase", "chosen_at"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "system"], name="one_representative_a_phase_and_system")
        ]

    def __str__(self) -> str:
        return f"{self.submission} stands for {self.system}"


class ReleasePlot(models.Model):
    """Plot data of a release (ROC curves, rank histograms, contrast pairs), as revealed by the phase. Append-only.

    The data are in a separate table, because boards read whole releases and most pages show no plots.
    """

    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="plot")
    content = models.JSONField(help_text="plot data computed by evaluator.plots.summary from the run's outcomes")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["release"]

    def __str__(self) -> str:
        return f"plot of {self.release}"
