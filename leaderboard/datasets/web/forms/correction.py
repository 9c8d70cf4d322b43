"""Forms to upload a corrected gold file and to confirm it."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.models import Split


class CorrectionForm(forms.Form):
    """Upload of the file only; the reason follows once its changes are known."""

    file = forms.FileField(label="Corrected gold file", max_length=300, allow_empty_file=True)


class ConfirmForm(forms.Form):
    """Reason of the correction, and whether the number of changed items is public."""

    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea({"rows": 3}),
        label="Reason for the correction",
        help_text="Shown publicly, in the errata and next to the board. Do not quote held-out answers.",
    )
    publishes_count = forms.BooleanField(required=False, label="Publish how many items changed")

    def __init__(self, *args: Any, split: Split, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if split.gold_public:  # the number can be computed from the two public versions
            del self.fields["publishes_count"]
