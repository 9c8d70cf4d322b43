"""Admin of the audit trail."""

from __future__ import annotations

from django.contrib import admin

from leaderboard.admin.files import ReadOnlyAdmin
from leaderboard.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "action", "subject", "detail")
    list_filter = ("action",)
    list_select_related = ("actor",)
    search_fields = ("subject", "action", "actor__username")
