"""Forms to create a team, and to invite somebody."""

from django import forms


class TeamForm(forms.Form):
    """Form to create a team: its name."""

    name = forms.CharField(max_length=100, help_text="Shown on leaderboards with your systems.")


class InviteForm(forms.Form):
    """Form to invite a person to a team: the person's mail address."""

    address = forms.EmailField(label="Email address", widget=forms.EmailInput({"autocomplete": "off"}))
