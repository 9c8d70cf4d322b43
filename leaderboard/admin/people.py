"""Admin of users, teams and systems."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from leaderboard.accounts.actions import usernames
from leaderboard.admin.files import ExportsRecords
from leaderboard.admin.moments import SAID
from leaderboard.core.refusal import Refused
from leaderboard.models import Membership, System, Team, User


class UsernameForm(forms.ModelForm):
    """Form of a user that refuses a new name which looks like another user's."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if "username" not in self.changed_data:  # names of earlier users stay as they are
            return name
        try:
            return usernames.checked(name, but=self.instance.pk or 0)
        except Refused as refused:
            raise ValidationError(refused.message) from refused


class NewPersonForm(UsernameForm, AdminUserCreationForm):
    """Form to add a user."""


class PersonForm(UsernameForm, UserChangeForm):
    """Form to edit a user."""


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Admin of user accounts, in which `is_curator` can be set."""

    form = PersonForm
    add_form = NewPersonForm
    list_display = ("username", "email", "is_curator", "is_staff", "is_active", "date_joined")
    list_filter = ("is_curator", "is_staff", "is_active")
    formfield_overrides = SAID
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Holdout", {"fields": ("is_curator",)}))

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Set or disable a user's password, and revoke the user's API tokens in the same transaction."""
        return super().user_change_password(request, id, form_url)


class MembershipInline(admin.StackedInline):
    """Members of a team. They are stacked, because in a tabular inline Django gives fields no labels."""

    model = Membership
    raw_id_fields = ("user",)
    extra = 0


@admin.register(Team)
class TeamAdmin(ExportsRecords):
    list_display = ("name", "created_at")
    search_fields = ("name",)
    inlines = (MembershipInline,)


@admin.register(System)
class SystemAdmin(ExportsRecords):
    """Admin of systems. Kind and team of a stored system cannot be edited, because boards and quotas depend on them."""

    list_display = ("name", "team", "kind", "created_at")
    list_filter = ("kind",)
    list_select_related = ("team",)
    search_fields = ("name", "team__name")
    formfield_overrides = SAID
    raw_id_fields = ("team",)

    def get_readonly_fields(self, request: HttpRequest, obj: System | None = None) -> tuple[str, ...]:
        return ("kind", "team") if obj is not None else ()
