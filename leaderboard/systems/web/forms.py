"""Forms to describe, rename and disqualify a system."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.utils import timezone

from leaderboard.models import System
from leaderboard.systems.actions.systems import MAX_ANONYMITY


class RenameForm(forms.Form):
    """Form to rename a team or a system. The action checks the name."""

    name = forms.CharField(label="New name", max_length=200)


class DescribeForm(forms.ModelForm):
    """Form for a system's description, links, BibTeX and anonymity."""

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

    def clean_anonymous_until(self) -> datetime | None:
        """Return the date if it is unchanged, or in the future and within MAX_ANONYMITY from now.

        Raises ValidationError otherwise.
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


class DisqualifyForm(forms.Form):
    """Form for the public reason of a disqualification."""

    reason = forms.CharField(max_length=300, help_text="One sentence, shown publicly next to the system on the board.")
