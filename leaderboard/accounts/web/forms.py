"""Forms to create a team, and to invite somebody."""

from django import forms


class TeamForm(forms.Form):
    """A team's name."""

    name = forms.CharField(max_length=100, help_text="Shown on leaderboards with your systems.")


class InviteForm(forms.Form):
    """The address of the person invited."""

    address = forms.EmailField(label="Email address", widget=forms.EmailInput({"autocomplete": "off"}))
