"""Form to edit a benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms

from leaderboard.benchmarks.actions import edit
from leaderboard.benchmarks.web.forms.benchmark import BenchmarkForm
from leaderboard.models import Benchmark, User

LONGEST_SEEN = 5000
"""Maximum number of characters of the field `seen`. A longer value counts as missing."""


class EditForm(BenchmarkForm):
    """Form to edit a benchmark's texts and contact.

    The hidden field `seen` has the digests (`actions.edit.marks`) of the values that the form was opened with.
    """

    slug = task = dataset = None  # type: ignore[assignment]
    contact = forms.CharField(
        max_length=300,
        required=False,
        help_text="An email address, or a page's address with https://. It is public.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    field_order = ("title", "summary", "description", "rules", "contact", "licence", "citation", "source_url")

    def __init__(self, data: Mapping[str, Any] | None, *, benchmark: Benchmark, by: User) -> None:
        current = edit.state_of(benchmark)
        super().__init__(data, initial={**current, "seen": json.dumps(edit.marks(current))})
        self.fields["licence"].label = "Licence of the dataset"
        self.fields["citation"].label = "Citation of the dataset"
        self.fields["source_url"].label = "Source of the dataset"
        if not edit.may_change_dataset(benchmark, by):
            for name in edit.OF_DATASET:
                del self.fields[name]

    def clean_seen(self) -> dict[str, str]:
        """Return the digests in `seen` by field; empty if the value is invalid."""
        if len(self.cleaned_data["seen"]) > LONGEST_SEEN:
            return {}
        try:
            marks = json.loads(self.cleaned_data["seen"])
        except (ValueError, RecursionError):
            return {}
        return marks if isinstance(marks, dict) and marks.keys() == set(edit.EVERYTHING) else {}

    def values(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in edit.EVERYTHING if name in self.cleaned_data}
