"""Form for a dry run of an organiser's own baseline."""

from __future__ import annotations

from typing import Any

from django import forms


class DryRunForm(forms.Form):
    """Form to upload the predictions file of a baseline for a dry run, with the baseline's name."""

    name = forms.CharField(
        max_length=120,
        label="Name",
        help_text="For example the method and its setting. It becomes the system's name if you put the baseline on a "
        "board.",
    )
    file = forms.FileField(label="Predictions file", max_length=300, allow_empty_file=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".jsonl,.jsonl.gz,.gz,application/x-ndjson"
