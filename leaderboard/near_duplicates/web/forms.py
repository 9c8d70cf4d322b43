"""Form to dismiss a near-duplicate."""

from django import forms


class DismissForm(forms.Form):
    """Reason, shown to organisers later."""

    reason = forms.CharField(max_length=300, help_text="Only organisers see it.")
