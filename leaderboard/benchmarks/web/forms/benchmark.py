"""Forms to create benchmarks."""

from __future__ import annotations

from django import forms

from evaluator.tasks.registry import TASKS
from leaderboard.core import spdx
from leaderboard.datasets.web.forms import SLUG_HELP
from leaderboard.models import Dataset


class BenchmarkForm(forms.Form):
    """Form to create a benchmark, on an existing dataset or on a new dataset with the benchmark's name."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, label="Short name", help_text=SLUG_HELP)
    task = forms.ChoiceField(choices=lambda: [(name, task.title) for name, task in TASKS.items()])
    summary = forms.CharField(
        max_length=300,
        widget=forms.Textarea({"rows": 2}),
        help_text="One sentence for the list of benchmarks.",
    )
    description = forms.CharField(widget=forms.Textarea({"rows": 5}), required=False, help_text="Markdown.")
    rules = forms.CharField(
        widget=forms.Textarea({"rows": 3}), required=False, help_text="What participants agree to. Markdown."
    )
    dataset = forms.ModelChoiceField(
        Dataset.objects.order_by("title"), required=False, empty_label="A new dataset, described below"
    )
    licence = forms.CharField(
        max_length=200,
        required=False,
        label="Licence of the new dataset",
        help_text="An SPDX expression, such as CC-BY-4.0 or MIT OR Apache-2.0, or the address of the licence.",
    )
    citation = forms.CharField(widget=forms.Textarea({"rows": 3}), required=False, label="Citation of the new dataset")
    source_url = forms.URLField(required=False, label="Source of the new dataset", assume_scheme="https")

    def clean_licence(self) -> str:
        """Return the licence with SPDX's capitals. Raises ValidationError for a licence that is not valid.

        The licence of an existing dataset is not checked if it is unchanged.
        """
        licence: str = self.cleaned_data["licence"].strip()
        if licence == self.initial.get("licence", ""):
            return licence
        if problem := spdx.problem(licence):
            raise forms.ValidationError(problem)
        return spdx.normal(licence) or licence
