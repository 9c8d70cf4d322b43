"""Forms to describe, rename and disqualify a system."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone

from leaderboard.boards.queries import facts
from leaderboard.boards.queries.facts import Fact, Value
from leaderboard.boards.web.forms.facts import FactField
from leaderboard.models import Benchmark, System
from leaderboard.systems.actions.systems import MAX_ANONYMITY


class RenameForm(forms.Form):
    """Form to rename a team or a system. It does not validate the name: `systems.actions.rename` does."""

    name = forms.CharField(label="New name", max_length=200)


class DescribeForm(forms.ModelForm):
    """Form for a system's description, links, BibTeX, anonymity, and facts (`_asked`)."""

    paper_url = forms.URLField(label="Paper URL", required=False, assume_scheme="https")
    code_url = forms.URLField(label="Code URL", required=False, assume_scheme="https")

    class Meta:
        model = System
        fields = ("description", "paper_url", "code_url", "bibtex", "anonymous_until")
        labels = {"bibtex": "BibTeX"}
        help_texts = {
            "bibtex": "How to cite the system. Shown exactly as entered.",
            "anonymous_until": "In UTC. Until then, only your team and the organisers can see the names of the system "
            "and your team and the texts above; everyone else sees “Anonymous” with a number. At "
            "most three years from now. Leave empty to show the names.",
        }
        widgets = {"anonymous_until": forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.facts = {fact.column: fact for fact in _asked(self.instance)}
        self.fields.update({name: FactField(fact, self.instance.facts) for name, fact in self.facts.items()})

    @property
    def stated(self) -> dict[str, Value | None]:
        """The values of the system's facts, by the name of the fact; None for an empty one."""
        return {fact.name: self.cleaned_data[name] for name, fact in self.facts.items()}

    def clean_anonymous_until(self) -> datetime | None:
        """Return the time until which the system is to be anonymous; None if its name is to be shown.

        Raises ValidationError unless the time is unchanged, or in the future and within MAX_ANONYMITY from now.
        """
        until: datetime | None = self.cleaned_data["anonymous_until"]
        current: datetime | None = self.instance.anonymous_until
        # The form field has no seconds, but the stored date may have.
        if until is None or (current is not None and until == current.replace(second=0, microsecond=0)):
            return current if until else None
        now = timezone.now()
        if not now < until <= now + MAX_ANONYMITY:
            raise forms.ValidationError(
                f"The time is {until:%Y-%m-%d %H:%M} UTC; expected one in the future, "
                f"{now + MAX_ANONYMITY:%Y-%m-%d} (UTC) at the latest."
            )
        return until


def _asked(system: System) -> list[Fact]:
    """Return the facts about a system that the form asks for: those of each benchmark with a submission of the system.

    Of facts with the same name, one is returned.
    """
    if system.pk is None:
        return []
    asking = Benchmark.objects.filter(phases__submissions__system=system).exclude(facts=[]).distinct()
    return list({fact.name: fact for benchmark in asking for fact in facts.of(benchmark)}.values())


class DisqualifyForm(forms.Form):
    """Form for the public reason of a disqualification."""

    reason = forms.CharField(max_length=300, help_text="One sentence, shown publicly next to the system on the board.")
