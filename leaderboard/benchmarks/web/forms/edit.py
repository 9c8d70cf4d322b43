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
    """Form to edit a benchmark's texts, links and main phase.

    The hidden field `seen` has the digests (`actions.edit.marks`) of the values that the form was opened with.
    """

    slug = task = dataset = None  # type: ignore[assignment]
    contact = forms.CharField(
        max_length=300,
        required=False,
        label="Public contact",
        help_text="An email address or a web page, which starts with https://.",
    )
    questions_url = forms.URLField(
        required=False, max_length=200, label="Page for questions", assume_scheme="https", help_text="Such as a forum."
    )
    paper_url = forms.URLField(required=False, max_length=200, label="Paper", assume_scheme="https")
    shown_organisers = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 3}),
        label="Organisers, as shown to everybody",
        help_text="One per line: name, affiliation and, if there is one, a link; separated by commas.",
    )
    main_phase = forms.ChoiceField(
        required=False,
        label="Main phase",
        help_text="The home page and the benchmark's page show its board, and <em>Submit</em> leads to it.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)
    field_order = (
        *("title", "summary", "description", "rules", "shown_organisers", "contact", "questions_url", "paper_url"),
        *("main_phase", "licence", "citation", "source_url"),
    )

    def __init__(self, data: Mapping[str, Any] | None, *, benchmark: Benchmark, by: User) -> None:
        current = edit.state_of(benchmark)
        super().__init__(data, initial={**current, "seen": json.dumps(edit.marks(current))})
        phases = [(phase.slug, phase.title) for phase in benchmark.phases.all()]
        self.fields["main_phase"].choices = [("", "Automatic: the last phase with results"), *phases]  # type: ignore[attr-defined]
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
