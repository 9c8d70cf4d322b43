"""Form to retire a split."""

from django import forms


class RetireForm(forms.Form):
    """Public reason for retiring a split."""

    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
        label="Why it is retired",
        help_text="Everybody reads it, on the split's page and on its boards.",
    )
