"""Export of admin records as CSV and JSON, with the fields that admin pages show. In CSV, formulas are escaped."""

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

from leaderboard.boards.api.csv import escape_formula, unescape_formula
from leaderboard.models import AuditEntry

MOST_ROWS = 100_000
"""Maximum number of rows of an export: the whole file is built in memory during the request."""


class SafeCSV(CSV):
    """CSV format with an apostrophe before text that a spreadsheet would take for a formula.

    An import removes the apostrophe.
    """

    def export_data(self, dataset: Dataset, **kwargs: Any) -> str:
        safe = Dataset(headers=dataset.headers)
        for row in dataset:
            safe.append([_escaped(cell) for cell in row])
        return str(super().export_data(safe, **kwargs))

    def create_dataset(self, in_stream: Any, **kwargs: Any) -> Dataset:
        parsed = super().create_dataset(in_stream, **kwargs)
        unescaped = Dataset(headers=parsed.headers)
        for row in parsed:
            unescaped.append([unescape_formula(cell) for cell in row])
        return unescaped


FORMATS = [SafeCSV, JSON]


class ExportsRecords(ExportMixin):
    """Mixin that adds an *Export* button to an admin list.

    An export has the records that match the list's filters, with the primary key and the fields of a record's own admin
    page, except stored files.
    """

    formats = FORMATS
    export_form_class = ExportForm

    def has_export_permission(self, request: HttpRequest) -> bool:
        return bool(self.has_view_permission(request))

    def get_export_resource_classes(self, request: HttpRequest) -> list[type[ModelResource]]:
        return [
            modelresource_factory(self.model, meta_options={"fields": _exported_fields(self.model, self.exclude or ())})
        ]

    def get_export_data(self, file_format: Any, request: HttpRequest, queryset: QuerySet[Any], **kwargs: Any) -> Any:
        """Return the content of the exported file, and record the export in the audit trail.

        Raises ValueError, whose message the page shows, for more than MOST_ROWS rows.
        """
        n = queryset.count()
        if n > MOST_ROWS:
            raise ValueError(f"The list has {n:,} records; expected at most {MOST_ROWS:,}. Filter the list first.")
        AuditEntry.objects.create(
            action="records.exported",
            subject=f"{self.model._meta.model_name}:list",
            actor_id=request.user.pk,
            detail={"n": n, "format": file_format.get_extension()},
        )
        return super().get_export_data(file_format, request, queryset, **kwargs)


def _exported_fields(model: Any, excluded: Any) -> list[str]:
    """Return the names of a model's fields that an export has.

    Stored files are left out, because their names are internal, and so are the fields in `excluded`, which the admin
    page of a record does not show.
    """
    fields = (field for field in model._meta.concrete_fields if not isinstance(field, FileField))
    return [field.name for field in fields if (field.editable or field.primary_key) and field.name not in excluded]


def _escaped(value: Any) -> Any:
    return value if not isinstance(value, str) or _is_number(value) else escape_formula(value)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
