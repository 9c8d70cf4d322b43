"""The audit log: its page, the changes that the admin makes, and the history of a record, which shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from leaderboard.admin.files import ExportsRecords, ReadOnlyAdmin
from leaderboard.benchmarks.queries import audit_trail
from leaderboard.benchmarks.web.manage_audit_trail import details, words
from leaderboard.models import AuditEntry

A_PAGE = 100


class RecordsChanges(ExportsRecords):
    """Base of admin pages whose changes enter the audit log, with the values before and after.

    The history of a record lists its entries: who changed it, here or on the site's pages.
    """

    object_history_template = "admin/audit_history.html"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the changed fields only: what others have changed since the page was opened stays."""
        obj.save(update_fields=[field.name for field in self.opts.concrete_fields if field.name in form.changed_data])

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        fields = {field.name for field in (*self.opts.concrete_fields, *self.opts.many_to_many)}
        values = {
            name: {"before": _as_json(form.initial.get(name)), "after": _as_json(form.cleaned_data[name])}
            for name in form.changed_data
            if name in fields
        }
        if values:
            AuditEntry.record("record.changed", form.instance, by=request.user, **values)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        AuditEntry.record("record.deleted", obj, by=request.user, name=str(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        rows = AuditEntry.objects.filter(subject=f"{self.opts.model_name}:{object_id}").select_related("actor")
        page = Paginator(rows, A_PAGE).get_page(request.GET.get("p"))
        entries = audit_trail.with_names(page.object_list)
        lines = [(entry, words(entry), details(entry)) for entry in entries]
        return super().history_view(request, object_id, {**(extra_context or {}), "page": page, "lines": lines})


def _as_json(value: Any) -> Any:
    """Return the value of a form's field in JSON. Related records are listed by name."""
    if isinstance(value, Model):
        return str(value)
    if isinstance(value, QuerySet | list) and all(isinstance(item, Model) for item in value):
        return sorted(map(str, value))
    return value.isoformat() if isinstance(value, datetime) else value


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "action", "subject", "detail")
    list_filter = ("action",)
    list_select_related = ("actor",)
    search_fields = ("subject", "action", "actor__username")
