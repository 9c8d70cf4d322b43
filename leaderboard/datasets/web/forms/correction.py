"""Forms to upload a corrected gold file and to confirm it."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.datasets.web.forms.gold import FORMATS
from leaderboard.models import Split


class CorrectionForm(forms.Form):
    """Form to upload a corrected gold file. The reason is asked for later, when the changes are known."""

    file = forms.FileField(label="Corrected gold file", max_length=300, allow_empty_file=True, help_text=FORMATS)


class ConfirmForm(forms.Form):
    """Form to confirm a correction: its public reason, and whether the number of changed items is published."""

    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea({"rows": 3}),
        label="Reason for the correction",
        help_text="Shown publicly, in the errata and next to the board. Do not quote hidden answers.",
    )
    publishes_count = forms.BooleanField(required=False, label="Publish how many items changed")

    def __init__(self, *args: Any, split: Split, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if split.gold_public:  # Anybody can compute the number from the two public gold versions.
            del self.fields["publishes_count"]
