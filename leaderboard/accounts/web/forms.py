"""What a person fills in to found a team, and to invite somebody into it."""

from django import forms


class TeamForm(forms.Form):
    """A team's name."""

    name = forms.CharField(max_length=100, help_text="Shown on leaderboards beside your systems.")


class InviteForm(forms.Form):
    """Whom an invitation is for."""

    address = forms.EmailField(label="Mail address", widget=forms.EmailInput({"autocomplete": "off"}))
