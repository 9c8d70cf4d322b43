"""Form to retire a split."""

from django import forms


class RetireForm(forms.Form):
    """Form: the public reason for retiring a split."""

    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
        label="Reason",
        help_text="Shown publicly, on the split's page and its boards.",
    )
