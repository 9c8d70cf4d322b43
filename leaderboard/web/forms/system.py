"""What a team fills in about its system, and organisers about a disqualification."""

from __future__ import annotations

from django import forms

from leaderboard.models import System


class DescribeForm(forms.ModelForm):
    """Description, links, BibTeX, and until when the name is not shown."""

    paper_url = forms.URLField(label="Address of the paper", required=False, assume_scheme="https")
    code_url = forms.URLField(label="Address of the code", required=False, assume_scheme="https")

    class Meta:
        model = System
        fields = ("description", "paper_url", "code_url", "bibtex", "anonymous_until")
        labels = {"bibtex": "BibTeX"}
        help_texts = {
            "bibtex": "How to cite it, shown as it stands here.",
            "anonymous_until": "UTC. Until then all but your team and the organisers read “Anonymous” with a number "
            "in the place of its name and your team's, and nothing of the above. Empty: it is not anonymous.",
        }
        widgets = {"anonymous_until": forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")}


class DisqualifyForm(forms.Form):
    """The reason that everybody reads."""

    reason = forms.CharField(
        max_length=300, help_text="One sentence that everybody reads beside the system on the board."
    )
