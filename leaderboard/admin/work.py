"""Read-only admin of submissions and their results."""

from __future__ import annotations

from django.contrib import admin

from leaderboard.admin.files import ReadOnlyAdmin
from leaderboard.models import (
    Comparison,
    Final,
    HiddenSubmission,
    Image,
    ImageUpload,
    Leaderboard,
    Placement,
    Prediction,
    QuotaCharge,
    Ranking,
    Release,
    Run,
    Score,
    Scorer,
    Standing,
    Submission,
    WorkerReport,
)


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ("system", "phase", "kind", "submitted_by", "received_at")
    list_select_related = ("system", "phase__benchmark", "submitted_by")
    list_filter = ("kind", "phase__benchmark")


@admin.register(HiddenSubmission)
class HiddenSubmissionAdmin(ReadOnlyAdmin):
    list_display = ("submission", "by_team", "reason", "hidden_by", "hidden_at", "unhidden_by", "unhidden_at")
    list_select_related = ("submission__system", "submission__phase__benchmark", "hidden_by", "unhidden_by")


@admin.register(Prediction)
class PredictionAdmin(ReadOnlyAdmin):
    list_display = ("id", "submission", "name", "bytes", "n_lines", "state", "stage", "reason")
    list_select_related = ("submission__system", "submission__phase__benchmark")
    list_filter = ("state",)
    exclude = ("file",)


@admin.register(Image)
class ImageAdmin(ReadOnlyAdmin):
    list_display = ("id", "reference", "archive_bytes", "digest", "unpacked_bytes", "created_at")
    exclude = ("archive",)


@admin.register(Scorer)
class ScorerAdmin(ReadOnlyAdmin):
    list_display = ("benchmark", "number", "primary", "created_by", "created_at")


@admin.register(ImageUpload)
class ImageUploadAdmin(ReadOnlyAdmin):
    list_display = ("name", "by", "phase", "received", "bytes", "began_at", "touched_at")
    list_select_related = ("by", "phase__benchmark")


@admin.register(WorkerReport)
class WorkerReportAdmin(ReadOnlyAdmin):
    list_display = ("queue", "host", "ready", "draining", "message", "seen_at")
    list_filter = ("queue", "ready", "draining")


@admin.register(Placement)
class PlacementAdmin(ReadOnlyAdmin):
    list_display = ("prediction", "worker", "team", "claimed_at")
    list_select_related = (
        "prediction__submission__system",
        "prediction__submission__phase__benchmark",
        "worker",
        "team",
    )


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("id", "prediction", "state", "reason", "attempt", "queued_at", "finished_at", "error_id")
    list_select_related = ("prediction__submission__system", "prediction__submission__phase__benchmark")
    list_filter = ("state", "reason")
    exclude = ("outcomes",)


@admin.register(Score)
class ScoreAdmin(ReadOnlyAdmin):
    list_display = ("run", "measure", "slice_key", "value", "low", "high", "n")
    list_filter = ("measure",)


@admin.register(QuotaCharge)
class QuotaChargeAdmin(ReadOnlyAdmin):
    list_display = ("submission", "phase", "team", "charged_at", "refunded_at")
    list_select_related = ("submission__system", "submission__phase__benchmark", "phase__benchmark", "team")


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ("phase", "sequence", "submission", "policy", "primary", "released_at")
    list_select_related = ("phase__benchmark", "submission__system", "submission__phase__benchmark")


@admin.register(Final)
class FinalAdmin(ReadOnlyAdmin):
    list_display = ("submission", "phase", "team", "chosen_by", "chosen_at")
    list_select_related = (
        "submission__system",
        "submission__phase__benchmark",
        "phase__benchmark",
        "team",
        "chosen_by",
    )


@admin.register(Leaderboard)
class LeaderboardAdmin(ReadOnlyAdmin):
    list_display = ("phase", "gold_version", "task_version", "state", "created_at")
    list_select_related = ("phase__benchmark", "gold_version__split__dataset")


@admin.register(Standing)
class StandingAdmin(ReadOnlyAdmin):
    list_display = ("leaderboard", "rank", "system", "value")
    list_select_related = ("leaderboard__phase__benchmark", "leaderboard__gold_version", "system")


@admin.register(Ranking)
class RankingAdmin(ReadOnlyAdmin):
    list_display = ("leaderboard", "changes", "covered", "failures", "reason", "n_compared", "n_pairs", "n_unresolved")
    list_select_related = ("leaderboard__phase__benchmark", "leaderboard__gold_version")


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
    list_display = ("leaderboard", "a", "b", "measure", "difference", "low", "high", "p", "n_permutations")
    list_select_related = ("leaderboard__phase__benchmark", "leaderboard__gold_version", "a", "b")
