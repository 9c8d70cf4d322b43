"""Admin of users, teams and systems."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from leaderboard.admin.files import ExportsRecords
from leaderboard.admin.moments import SAID
from leaderboard.models import Membership, System, Team, User


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Admin of user accounts, in which `is_curator` can be set."""

    list_display = ("username", "email", "is_curator", "is_staff", "is_active", "date_joined")
    list_filter = ("is_curator", "is_staff", "is_active")
    formfield_overrides = SAID
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Holdout", {"fields": ("is_curator",)}))


class MembershipInline(admin.StackedInline):
    """Members of a team. They are stacked, because in a tabular inline Django gives fields no labels."""

    model = Membership
    raw_id_fields = ("user",)
    extra = 0


@admin.register(Team)
class TeamAdmin(ExportsRecords, admin.ModelAdmin):
    list_display = ("name", "created_at")
    search_fields = ("name",)
    inlines = (MembershipInline,)


@admin.register(System)
class SystemAdmin(ExportsRecords, admin.ModelAdmin):
    """Admin of systems. Kind and team of a stored system cannot be edited, because boards and quotas depend on them."""

    list_display = ("name", "team", "kind", "created_at")
    list_filter = ("kind",)
    list_select_related = ("team",)
    search_fields = ("name", "team__name")
    formfield_overrides = SAID
    raw_id_fields = ("team",)

    def get_readonly_fields(self, request: HttpRequest, obj: System | None = None) -> tuple[str, ...]:
        return ("kind", "team") if obj is not None else ()
