"""Why two systems' likeness is no matter."""

from django import forms


class DismissForm(forms.Form):
    """The reason that organisers read later."""

    reason = forms.CharField(max_length=300, help_text="For the organisers alone: nobody else reads of it.")
