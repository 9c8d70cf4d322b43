"""Admin of reported results, entered one by one or imported from a file with a preview."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from import_export.admin import ImportMixin
from import_export.forms import ImportForm
from import_export.resources import ModelResource
from simple_history.admin import SimpleHistoryAdmin

from leaderboard.admin.files import ExportsRecords
from leaderboard.admin.reported_rows import ReportedRows
from leaderboard.models import ReportedResult

MOST_BYTES = 1_000_000


class SmallFile(ImportForm):
    """Form to import reported results, with a small size limit: a paper's table is small."""

    def clean_import_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["import_file"]
        if (file.size or 0) > MOST_BYTES:
            raise forms.ValidationError(f"The file has {file.size:,} bytes; expected at most {MOST_BYTES:,}.")
        return file


@admin.register(ReportedResult)
class ReportedResultAdmin(ImportMixin, ExportsRecords, SimpleHistoryAdmin):
    list_display = ("system", "benchmark", "paper", "table", "split", "same_split")
    list_filter = ("benchmark",)
    list_select_related = ("benchmark",)
    resource_classes = (ReportedRows,)
    import_form_class = SmallFile
    import_template_name = "admin/import_rows.html"
    import_export_change_list_template = "admin/import_export/change_list_import_export.html"

    def get_export_resource_classes(self, request: HttpRequest) -> list[type[ModelResource]]:
        return [ReportedRows]

    def has_import_permission(self, request: HttpRequest) -> bool:
        return bool(self.has_add_permission(request) and self.has_change_permission(request))
