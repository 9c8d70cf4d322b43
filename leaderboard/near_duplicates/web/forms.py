"""Form to dismiss near-duplicates."""

from django import forms


class DismissForm(forms.Form):
    """Form: the reason why the near-duplicates of two systems are dismissed."""

    reason = forms.CharField(max_length=300, help_text="Only organisers see it.")
