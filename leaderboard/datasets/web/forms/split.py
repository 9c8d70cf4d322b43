"""Form to add a split with its first gold version."""

from __future__ import annotations

from django import forms

from leaderboard.core.web.options_field import OptionsField
from leaderboard.datasets.web.forms.gold import FORMATS
from leaderboard.models import Split

SLUG_HELP = "Part of the URL: letters, digits, hyphens. Cannot be changed later."


class SplitForm(forms.Form):
    """Form to add a split with its first gold version; the server derives the inputs from the gold."""

    name = forms.SlugField(max_length=80, help_text=SLUG_HELP)
    kind = forms.ChoiceField(choices=Split.Kind.choices, initial=Split.Kind.TEST)
    gold_public = forms.BooleanField(
        required=False, label="Publish the gold", help_text="For train and dev splits. Leave off for held-out gold."
    )
    hide_inputs = forms.BooleanField(
        required=False,
        label="Hide the inputs too",
        help_text="Only submitted containers can read the inputs: phases on this split accept only container images.",
    )
    options = OptionsField()
    file = forms.FileField(label="Gold file", max_length=300, allow_empty_file=True, help_text=FORMATS)
