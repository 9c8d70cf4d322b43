"""Read-only admin pages of rows that only the site writes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from leaderboard.admin.files import ExportsRecords


class ReadOnlyAdmin(ExportsRecords, admin.ModelAdmin):
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
