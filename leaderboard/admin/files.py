"""Export of admin records as CSV and JSON, with the fields that admin pages show. In CSV, formulas are escaped."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import Any

import msgspec
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.db.models import FileField, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone

from leaderboard.boards.api.csv import escape_formula
from leaderboard.models import AuditEntry

MOST_ROWS = 100_000
"""Maximum number of rows of an export: the whole file is built in memory during the request."""
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


class ExportsRecords(admin.ModelAdmin):
    """Base of admin pages with links to export the listed records.

    An export has the records that match the list's filters, with the primary key and the fields of a record's own admin
    page, except stored files.
    """

    change_list_template = "admin/list_with_export.html"

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        view = self.admin_site.admin_view(self.export)
        return [path("export.<str:suffix>", view, name=name), *super().get_urls()]

    def export(self, request: HttpRequest, suffix: str) -> HttpResponse:
        """Return the records of the list as a file, and record the export in the audit log. suffix: csv or json."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if suffix not in MEDIA_TYPES:
            raise Http404(f"No file {suffix}; expected csv or json.")
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters as error:
            raise Http404("The list has no such filter.") from error
        if (n := rows.count()) > MOST_ROWS:
            text = f"The list has {n:,} records; expected at most {MOST_ROWS:,}. Filter the list first."
            return HttpResponse(text, status=422, content_type="text/plain; charset=utf-8")
        names = _exported_fields(self.model, self.exclude or ())
        content = _as_csv(rows, names) if suffix == "csv" else msgspec.json.encode(list(rows.values(*names)))
        AuditEntry.objects.create(
            action="records.exported",
            subject=f"{self.opts.model_name}:list",
            actor_id=request.user.pk,
            detail={"n": n, "format": suffix},
        )
        file_name = f"{self.opts.model_name}-{timezone.now():%Y-%m-%d}.{suffix}"
        disposition = f'attachment; filename="{file_name}"'
        return HttpResponse(content, MEDIA_TYPES[suffix], headers={"Content-Disposition": disposition})


class ReadOnlyAdmin(ExportsRecords):
    """Base of admin pages whose rows can be viewed, but not added, changed or deleted.

    Subclasses exclude stored files, which have no URL.
    """

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _exported_fields(model: Any, excluded: Any) -> list[str]:
    """Return the names of a model's fields that an export has.

    Stored files are left out, because their names are internal, and so are the fields in `excluded`, which the admin
    page of a record does not show.
    """
    fields = (field for field in model._meta.concrete_fields if not isinstance(field, FileField))
    return [field.name for field in fields if (field.editable or field.primary_key) and field.name not in excluded]


def _as_csv(rows: QuerySet[Any], names: list[str]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(names)
    for values in rows.values_list(*names):
        writer.writerow(map(_cell, values))
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict | list):
        return escape_formula(msgspec.json.encode(value).decode())
    return value
