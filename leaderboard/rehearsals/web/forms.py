"""Forms to start a rehearsal and to change its testers."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.core.web.local_time_field import read_local
from leaderboard.models import Phase

MOST_NAMES = 100


class TestersForm(forms.Form):
    """Form for the testers of a rehearsal: usernames and team names, one per line."""

    testers = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
        label="Testers",
        help_text="Usernames or team names, one per line. Like organisers, testers can see the rehearsal "
        "and submit to it.",
    )

    def clean_testers(self) -> list[str]:
        lines = (line.strip() for line in self.cleaned_data["testers"].splitlines())
        names = list(dict.fromkeys(line for line in lines if line))
        if len(names) > MOST_NAMES:
            raise forms.ValidationError(f"There are {len(names)} names; expected at most {MOST_NAMES}.")
        return names


class RehearsalForm(TestersForm):
    """Form to start a rehearsal, with its testers and its end."""

    def __init__(self, *args: Any, phase: Phase, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sealed = phase.disclosure == Phase.Disclosure.SEALED
        self._zone = phase.time_zone
        end_text = (
            "Then the scores of the rehearsal are unsealed for its managers."
            if sealed
            else "Leave empty to keep it open until you end it or the phase opens."
        )
        self.fields["ends_at"] = forms.DateTimeField(
            required=sealed,
            widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            label="Accepts submissions until",
            help_text=f"In the time zone {phase.time_zone}. Testers can see the rehearsal until then. {end_text}",
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("ends_at"):
            read_local(self, data, "ends_at", self._zone)
        return data
