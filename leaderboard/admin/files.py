"""Records out of the admin as CSV and JSON: what its pages show, and nothing that a spreadsheet would run."""

from __future__ import annotations

import math
from typing import Any

from django.db.models import FileField, QuerySet
from django.http import HttpRequest
from import_export.admin import ExportMixin
from import_export.formats.base_formats import CSV, JSON
from import_export.forms import ExportForm
from import_export.resources import ModelResource, modelresource_factory
from tablib import Dataset

from leaderboard.boards.api.csv import ACTIVE
from leaderboard.models import AuditEntry

MOST_ROWS = 100_000
"""More are refused: the whole file is made in memory, while the request waits."""


class SafeCSV(CSV):
    """Text that a spreadsheet would take for a formula stands behind an apostrophe, which an import takes off again."""

    def export_data(self, dataset: Dataset, **kwargs: Any) -> str:
        safe = Dataset(headers=dataset.headers)
        for row in dataset:
            safe.append([_guarded(cell) for cell in row])
        return str(super().export_data(safe, **kwargs))

    def create_dataset(self, in_stream: Any, **kwargs: Any) -> Dataset:
        read = super().create_dataset(in_stream, **kwargs)
        plain = Dataset(headers=read.headers)
        for row in read:
            plain.append([_unguarded(cell) for cell in row])
        return plain


FORMATS = [SafeCSV, JSON]


class ExportsRecords(ExportMixin):
    """*Export* on a list of records: the rows as they are filtered, the fields that their own page shows."""

    formats = FORMATS
    export_form_class = ExportForm

    def has_export_permission(self, request: HttpRequest) -> bool:
        return bool(self.has_view_permission(request))

    def get_export_resource_classes(self, request: HttpRequest) -> list[type[ModelResource]]:
        return [modelresource_factory(self.model, meta_options={"fields": _shown(self.model, self.exclude or ())})]

    def get_export_data(self, file_format: Any, request: HttpRequest, queryset: QuerySet[Any], **kwargs: Any) -> Any:
        """The file. Raises ValueError, which the page shows, for more than MOST_ROWS."""
        n = queryset.count()
        if n > MOST_ROWS:
            raise ValueError(f"These are {n:,} records; expected at most {MOST_ROWS:,}. Filter the list first.")
        AuditEntry.objects.create(
            action="records.exported",
            subject=f"{self.model._meta.model_name}:list",
            actor_id=request.user.pk,
            detail={"n": n, "format": file_format.get_extension()},
        )
        return super().get_export_data(file_format, request, queryset, **kwargs)


def _shown(model: Any, excluded: Any) -> list[str]:
    """Stored files have names that lead to them: they stay behind, as whatever the record's page leaves out."""
    fields = (field for field in model._meta.concrete_fields if not isinstance(field, FileField))
    return [field.name for field in fields if (field.editable or field.primary_key) and field.name not in excluded]


def _guarded(cell: Any) -> Any:
    """As `api.table.neutral`; what stands behind apostrophes already gets another one, for the import to take off."""
    if not isinstance(cell, str) or _is_number(cell):
        return cell
    return f"'{cell}" if cell.lstrip("'").startswith(ACTIVE) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(ACTIVE) else cell


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
