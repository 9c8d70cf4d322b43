"""Form to upload a gold version."""

from __future__ import annotations

from django import forms

FORMATS = "JSON Lines (also .jsonl.gz), or a table: CSV, TSV, XLSX or Parquet. Row 1 of a table has the keys."


class GoldForm(forms.Form):
    """Form to upload the next gold version of a split, with a public reason."""

    file = forms.FileField(label="Gold file", max_length=300, allow_empty_file=True, help_text=FORMATS)
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea({"rows": 2}),
        label="Reason for this version",
        help_text="Participants see it next to the version's number.",
    )
