"""Papers' rows, typed one by one or imported as a file that is shown before anything is kept."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from django import forms
from django.contrib import admin
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils.html import format_html
from import_export.admin import ImportMixin
from import_export.fields import Field
from import_export.forms import ImportForm
from import_export.resources import Diff, ModelResource
from import_export.widgets import ForeignKeyWidget, JSONWidget
from simple_history.admin import SimpleHistoryAdmin

from leaderboard import printed
from leaderboard.admin.files import ExportsRecords
from leaderboard.models import AuditEntry, Benchmark, ReportedResult

MOST_BYTES = 1_000_000


class BenchmarkBySlug(ForeignKeyWidget):
    """A benchmark, named as its address names it."""

    def __init__(self) -> None:
        super().__init__(Benchmark, "slug")

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Benchmark:
        found = Benchmark.objects.filter(slug=value).first()
        if found is None:
            raise ValueError(f"benchmark is {value!r}; expected the short name of a benchmark of this site")
        return found


class Numbers(JSONWidget):
    """What the paper prints: JSON of its form. The record checks the measures, as its own form has it do."""

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Any:
        given = msgspec.json.decode(value) if isinstance(value, str) else value
        return msgspec.to_builtins(printed.check(given, task=None))

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return json.dumps(value, ensure_ascii=False)


class Change(Diff):
    """The fields of a row with what becomes of each; without the package's inline colours, which the policy forbids."""

    def __init__(self, resource: ModelResource, instance: Any, new: bool) -> None:
        super().__init__(resource, instance, new)
        self.names = [field.column_name for field in resource.get_import_fields()]

    def as_html(self) -> list[Any]:
        """Each field that says something; empty where it does not."""
        return [
            _told(name, "" if self.new else before, after)
            for name, before, after in zip(self.names, self.left, self.right, strict=True)
        ]


def _told(name: str, before: Any, after: Any) -> Any:
    if before in ("", after):
        return format_html("<strong>{}</strong>: {}", name, after) if after != "" else ""
    return format_html("<strong>{}</strong>: <del>{}</del> <ins>{}</ins>", name, before, after)


class ReportedRows(ModelResource):
    """A row is told by benchmark, system, paper, table and split: the same again changes it, another adds one."""

    benchmark = Field(attribute="benchmark", column_name="benchmark", widget=BenchmarkBySlug())
    values = Field(attribute="values", column_name="values", widget=Numbers())

    class Meta:
        model = ReportedResult
        fields = ("benchmark", "system", "paper", "table", "split", "same_split", "values", "track", "note", "position")
        import_id_fields = ("benchmark", "system", "paper", "table", "split")
        clean_model_instances = True
        skip_unchanged = True
        report_skipped = True
        use_transactions = True

    def get_diff_class(self) -> type[Diff]:
        return Change

    def after_save_instance(self, instance: ReportedResult, row: Any, **kwargs: Any) -> None:
        AuditEntry.record("reported.imported", instance, by=kwargs.get("user"), file=kwargs.get("file_name") or "")


class SmallFile(ImportForm):
    """A paper's table is small; whatever is large is the wrong file."""

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
