"""Forms for announcements, the contact, the time zone and deadline extensions."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.core import time_zones
from leaderboard.core.web.local_time_field import read_local
from leaderboard.models import Team


class AnnouncementForm(forms.Form):
    """Form to publish an announcement, in Markdown."""

    title = forms.CharField(max_length=200)
    text = forms.CharField(
        max_length=5000,
        widget=forms.Textarea({"rows": 6}),
        required=False,
        help_text="Markdown. Empty lines separate paragraphs.",
    )


class ContactForm(forms.Form):
    """Form to set a benchmark's public contact for questions."""

    contact = forms.CharField(
        max_length=300,
        required=False,
        label="Email address or web page",
        help_text="Shown on the benchmark's page. Web pages start with https://. Leave it empty to show none.",
    )


class ZoneForm(forms.Form):
    """Form to choose the time zone in which a phase's dates are shown in addition to UTC."""

    time_zone = forms.ChoiceField(
        label="Time zone", help_text="This changes only how dates are shown. AoE: anywhere on Earth (UTC-12)."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["time_zone"].choices = [(name, name) for name in time_zones.names()]  # type: ignore[attr-defined]


class ExtensionForm(forms.Form):
    """Form to extend a phase's deadline, for everybody or for one team."""

    closes_at = forms.DateTimeField(
        label="Closes", widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    )
    reason = forms.CharField(max_length=300, help_text="Public. For an extension of one team, only that team sees it.")
    team = forms.CharField(
        max_length=100,
        required=False,
        label="Only for one team",
        help_text="The team's name, as shown on leaderboards. Empty: all teams.",
    )

    def __init__(self, *args: Any, time_zone: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.time_zone = time_zone
        self.fields["closes_at"].help_text = f"Time in {time_zone}."

    def clean(self) -> dict[str, Any]:
        """Convert `closes_at` from local time to UTC, and `team` from a name to a Team (None if it is empty)."""
        data = super().clean() or {}
        if data.get("closes_at") is not None:
            read_local(self, data, "closes_at", self.time_zone)
        name = data.get("team", "")
        data["team"] = Team.objects.filter(name__iexact=name).first() if name else None
        if name and data["team"] is None:
            self.add_error("team", f"There is no team with this name, {name}; expected a name as on leaderboards.")
        return data
