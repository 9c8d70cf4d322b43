"""What a researcher fills in to submit."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.models import System, Team, User

OTHER_FIELDS = "Choose one of your systems or name another, not both."


class SystemChoice(forms.ModelChoiceField):
    """A system with its team's name, which matters to people with several teams."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} ({obj.team.name})"


class SubmissionForm(forms.Form):
    """A predictions file for a system that is chosen or named."""

    system = SystemChoice(System.objects.none(), required=False, empty_label="Another one, named below")
    new_system = forms.CharField(
        max_length=200,
        required=False,
        label="or the name of another system",
        help_text="The method's name, as the leaderboard shall show it.",
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), required=False, label="Team of the other system", empty_label=None
    )
    note = forms.CharField(
        max_length=300, required=False, help_text="For your own list: a commit, a seed, a setting. Never published."
    )
    file = forms.FileField(label="Predictions file", max_length=300, allow_empty_file=True)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".jsonl,.jsonl.gz,.gz,application/x-ndjson"
        systems = System.objects.filter(team__in=user.teams.values("pk")).select_related("team")
        teams = user.teams.order_by("membership__id")
        self.fields["system"].queryset = systems.order_by("name")  # type: ignore[attr-defined]
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]
        if len(teams) < 2:
            del self.fields["team"]
        if not systems:
            del self.fields["system"]
            self.fields["new_system"].label = "Name of your system"
            self.fields["new_system"].required = True
        for name in ("system", "new_system"):
            # Neither is required by itself, and together they are: "optional" would mislead.
            if name in self.fields:
                self.fields[name].is_one_of_two = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if self.errors:
            return found
        if bool(found.get("system")) == bool(found.get("new_system")):
            self.add_error("system" if found.get("system") else "new_system", OTHER_FIELDS)
        return found
