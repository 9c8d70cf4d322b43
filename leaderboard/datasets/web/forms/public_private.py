"""Form to divide the groups of a split into public and private."""

from __future__ import annotations

from decimal import Decimal

from django import forms


class PublicPrivateForm(forms.Form):
    """Form: fraction of the split's groups that becomes public, and the seed of the random draw."""

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
