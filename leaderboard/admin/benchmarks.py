"""Admin of benchmarks, with their data and reported results. Metadata of gold is shown, never its file."""

from __future__ import annotations

from django.contrib import admin

from leaderboard.admin.changes import RecordsChanges
from leaderboard.admin.files import ReadOnlyAdmin
from leaderboard.models import (
    Benchmark,
    Dataset,
    Download,
    GoldVersion,
    PublicPrivatePartition,
    ReportedResult,
    Split,
)


@admin.register(Benchmark)
class BenchmarkAdmin(RecordsChanges):
    """Admin of benchmarks. Texts and organisers can be edited; the task and the dataset are fixed after creation."""

    list_display = ("title", "slug", "task", "state", "created_at")
    list_filter = ("state", "task")
    search_fields = ("title", "slug")
    filter_horizontal = ("organisers",)
    readonly_fields = ("slug", "task", "dataset", "state", "access")

    def has_add_permission(self, request: object) -> bool:
        return False


@admin.register(Dataset)
class DatasetAdmin(RecordsChanges):
    list_display = ("title", "slug", "task", "licence", "created_at")
    readonly_fields = ("slug", "task")

    def has_add_permission(self, request: object) -> bool:
        return False


@admin.register(PublicPrivatePartition)
class PublicPrivatePartitionAdmin(ReadOnlyAdmin):
    list_display = ("gold", "share", "n_public", "n_private", "created_by", "created_at")
    list_select_related = ("gold__split__dataset", "created_by")
    exclude = ("file", "seed")


@admin.register(Split)
class SplitAdmin(ReadOnlyAdmin):
    list_display = ("name", "dataset", "kind", "gold_public", "inputs_bytes", "created_at")
    list_select_related = ("dataset",)
    exclude = ("inputs",)


@admin.register(Download)
class DownloadAdmin(ReadOnlyAdmin):
    list_display = ("name", "dataset", "title", "bytes", "created_at")
    list_select_related = ("dataset",)
    exclude = ("file",)


@admin.register(GoldVersion)
class GoldVersionAdmin(ReadOnlyAdmin):
    list_display = ("split", "number", "n_lines", "n_units", "n_groups", "primary", "created_at")
    list_select_related = ("split__dataset",)
    exclude = ("file",)


@admin.register(ReportedResult)
class ReportedResultAdmin(ReadOnlyAdmin):
    list_display = ("system", "benchmark", "paper", "table", "split", "same_split")
    list_filter = ("benchmark",)
    list_select_related = ("benchmark",)
