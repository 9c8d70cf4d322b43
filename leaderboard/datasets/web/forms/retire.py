"""Why a split is taken out of use."""

from django import forms


class RetireForm(forms.Form):
    """The reason that everybody reads on its boards."""

    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea({"rows": 3}),
        label="Why it is retired",
        help_text="Everybody reads it, on the split's page and on its boards.",
    )
