"""Forms of a split: add it, upload and correct its gold, divide its groups, retire it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from leaderboard.core.web.options_field import OptionsField
from leaderboard.models import Split

FORMATS = "JSON Lines (also .jsonl.gz), or a table: CSV, TSV, XLSX or Parquet. Row 1 of a table has the keys."
SLUG_HELP = "Part of the URL: letters, digits, hyphens. Cannot be changed later."


def _gold_file(label: str) -> forms.FileField:
    return forms.FileField(label=label, max_length=300, allow_empty_file=True, help_text=FORMATS)


def _reason(label: str, help_text: str, *, rows: int = 3, most: int = 1000) -> forms.CharField:
    return forms.CharField(max_length=most, widget=forms.Textarea({"rows": rows}), label=label, help_text=help_text)


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
    file = _gold_file("Gold file")


class GoldForm(forms.Form):
    """Form to upload the next gold version of a split, with a public reason."""

    file = _gold_file("Gold file")
    reason = _reason("Reason for this version", "Participants see it next to the version's number.", rows=2)


class CorrectionForm(forms.Form):
    """Form to upload a corrected gold file. The reason is asked for later, when the changes are known."""

    file = _gold_file("Corrected gold file")


class ConfirmForm(forms.Form):
    """Form to confirm a correction: its public reason, and whether the number of changed items is published."""

    reason = _reason(
        "Reason for the correction",
        "Shown publicly, in the errata and next to the board. Do not quote hidden answers.",
    )
    publishes_count = forms.BooleanField(required=False, label="Publish how many items changed")

    def __init__(self, *args: Any, split: Split, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if split.gold_public:  # Anybody can compute the number from the two public gold versions.
            del self.fields["publishes_count"]


class PublicPrivateForm(forms.Form):
    """Form to divide a split's groups: fraction of them that becomes public, and the seed of the random draw."""

    share = forms.DecimalField(
        min_value=Decimal("0.000001"),
        max_value=Decimal("0.999999"),
        max_digits=7,
        decimal_places=6,
        initial=Decimal("0.5"),
        label="Public share of the groups",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=(1 << 63) - 1,
        label="Seed",
        help_text="Leave empty to choose one at random. Keep it secret: who knows the seed and the names of the "
        "groups can compute which groups are public.",
    )


class RetireForm(forms.Form):
    """Form to retire a split, with a public reason."""

    reason = _reason("Reason", "Shown publicly, on the split's page and its boards.", most=500)
