"""Admin of phases. As on the site's pages, a deadline can only be moved later, with a public reason."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest

from leaderboard.admin.changes import RecordsChanges
from leaderboard.admin.moments import SAID
from leaderboard.benchmarks.actions import deadlines
from leaderboard.core.refusal import Refused
from leaderboard.models import Phase
from leaderboard.models.benchmark import PHASE_FIELDS
from leaderboard.work_queue import worker_status


class PhaseForm(forms.ModelForm):
    """Admin form of a phase. A changed deadline needs a reason, and the action that extends deadlines validates it."""

    reason = forms.CharField(
        max_length=300, required=False, help_text="reason for the extension, shown publicly with the deadline"
    )
    by: Any = None

    class Meta:
        model = Phase
        fields = "__all__"  # noqa: DJ007  the admin leaves out what is read-only

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "closes_at" not in self.changed_data or "closes_at" in self.errors:
            return cleaned
        if cleaned.get("closes_at") is None:
            self.add_error("closes_at", "The end is empty; expected a later end: a deadline cannot be removed.")
            return cleaned
        try:
            with transaction.atomic():
                self.extend()
                transaction.set_rollback(True)
        except Refused as refused:
            self.add_error("reason" if not cleaned.get("reason") else "closes_at", refused.message)
        return cleaned

    def extend(self) -> None:
        values = self.cleaned_data
        phase = Phase.objects.get(pk=self.instance.pk)
        deadlines.extend(phase=phase, closes_at=values["closes_at"], reason=values.get("reason") or "", by=self.by)


@admin.register(Phase)
class PhaseAdmin(RecordsChanges):
    """Admin of phases. Quotas and dates can be edited, the end only to a later date.

    Split and options cannot be edited, because scores depend on them.
    """

    form = PhaseForm
    formfield_overrides = SAID
    list_display = ("title", "benchmark", "split", "opens_at", "closes_at", "quota_per_day", "quota_total")
    list_select_related = ("benchmark", "split__dataset")
    readonly_fields = (
        *("benchmark", "scorer", "unsealed_at"),
        *(name for name, field in PHASE_FIELDS.items() if not field.in_admin),
    )

    def has_add_permission(self, request: object) -> bool:
        return False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form_class = super().get_form(request, obj, change=change, **kwargs)
        if "gpus" in form_class.base_fields:
            form_class.base_fields["gpus"].help_text += f". {worker_status.gpus_offered()}"
        return type("PhaseFormOf", (form_class,), {"by": request.user})

    def save_model(self, request: HttpRequest, obj: Phase, form: Any, change: bool) -> None:
        """Save the phase. A changed deadline is saved by the action that extends deadlines, which records it."""
        if "closes_at" in form.changed_data:
            form.extend()
        super().save_model(request, obj, form, change)
        if obj.gpus and (why_not := worker_status.why_no_gpus(obj.gpus, obj.gpu_memory_gb)):
            messages.warning(request, why_not)
