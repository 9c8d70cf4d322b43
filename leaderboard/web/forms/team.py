"""What a person fills in to found a team."""

from django import forms


class TeamForm(forms.Form):
    """A team's name."""

    name = forms.CharField(max_length=100, help_text="Shown on leaderboards beside your systems.")
