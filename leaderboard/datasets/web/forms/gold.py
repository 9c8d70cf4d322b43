"""Form to upload a gold version."""

from __future__ import annotations

from django import forms


class GoldForm(forms.Form):
    """The next version of a split's gold."""

    file = forms.FileField(label="Gold file", max_length=300, allow_empty_file=True)
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea({"rows": 2}),
        label="Why this version",
        help_text="Participants read it beside the version's number.",
    )
