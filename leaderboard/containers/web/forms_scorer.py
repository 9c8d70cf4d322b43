"""Forms to add a custom scorer and to attach it to a phase."""

from __future__ import annotations

import json
import math
from typing import Any

from django import forms
from django.conf import settings
from django.forms.fields import InvalidJSONInput

from evaluator.tasks.base import Task
from leaderboard.models import Benchmark, ImageUpload, Phase, Scorer, User
from leaderboard.submissions.web.forms import ONE_IMAGE


def example_measure(task: Task) -> dict[str, Any]:
    """Return the first measure of a task as an example of what a custom scorer declares. A bound of None: unbounded."""
    measure = task.measures[0]
    return {
        "name": measure.name,
        "title": measure.title,
        "doc": measure.doc,
        "lower": measure.low if math.isfinite(measure.low) else None,
        "upper": measure.high if math.isfinite(measure.high) else None,
        "higher_is_better": measure.higher_is_better,
    }


class WrittenField(forms.JSONField):
    """Form field for JSON that shows its value indented."""

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, InvalidJSONInput) else json.dumps(value, indent=2, ensure_ascii=False)


class ScorerForm(forms.Form):
    """Form to add a custom scorer: one image (archive, finished upload or registry reference) and its measures."""

    file = forms.FileField(label="Archive of the image", max_length=300, allow_empty_file=True, required=False)
    reference = forms.CharField(max_length=400, required=False, label="Or an image in a registry, by digest")
    upload = forms.ModelChoiceField(ImageUpload.objects.none(), required=False, widget=forms.HiddenInput)
    measures = WrittenField(
        widget=forms.Textarea({"rows": 12, "class": "mono", "spellcheck": "false"}),
        help_text="A JSON list of measures. <code>null</code> as a bound means no bound. Everyone can see titles and "
        "descriptions.",
    )
    primary = forms.CharField(max_length=60, label="Ranking measure", help_text="The name of one of the measures.")
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea({"rows": 2}),
        label="Reason",
        help_text="Participants see it next to the scorer's number.",
    )

    def __init__(self, *args: Any, user: User, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["upload"].queryset = ImageUpload.objects.filter(by=user, benchmark=benchmark)  # type: ignore[attr-defined]
        self.fields["file"].widget.attrs["accept"] = ".tar,application/x-tar"
        for name in ("file", "reference"):
            self.fields[name].is_conditional = True  # type: ignore[attr-defined]
        self.fields["reference"].help_text = f"registry/name@sha256:… from {', '.join(settings.REGISTRIES)}"
        self.fields["reference"].widget.attrs["spellcheck"] = "false"
        if not settings.REGISTRIES:
            del self.fields["reference"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        sources = [name for name in ("file", "reference", "upload") if cleaned.get(name)]
        if not self.errors and len(sources) != 1:
            self.add_error("file", ONE_IMAGE if "reference" in self.fields else "Choose the archive of your image.")
        return cleaned


class AttachForm(forms.Form):
    """Form to choose the custom scorer of a phase; an empty choice means that the benchmark's task scores the phase."""

    scorer = forms.ModelChoiceField(Scorer.objects.none(), required=False, empty_label="The task")

    def __init__(self, data: Any = None, *, phase: Phase) -> None:
        super().__init__(data, auto_id=f"id_{phase.slug}_%s", initial={"scorer": phase.scorer_id})
        field: Any = self.fields["scorer"]
        field.queryset = Scorer.objects.filter(benchmark=phase.benchmark_id).order_by("-number")
        field.widget.attrs["class"] = "input"
        field.label_from_instance = lambda scorer: f"Scorer {scorer.number}"
        field.label = f"Scorer of {phase.title}"
