"""Forms to create benchmarks and phases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.db.models import Case, IntegerField, QuerySet, When
from django.utils import timezone

from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure.ladder import format_unit_step
from leaderboard.boards.web.forms.tracks import TracksField
from leaderboard.core import time_zones
from leaderboard.core.web.local_time_field import read_local
from leaderboard.core.web.options_field import OptionsField
from leaderboard.datasets.web.forms.split import SLUG_HELP
from leaderboard.evaluation import container_limits
from leaderboard.models import Dataset, Phase, PublicPrivatePartition, Split
from leaderboard.models.benchmark import MAX_GPU_MEMORY_GB, MAX_GPUS
from leaderboard.work_queue import worker_status

LIMIT_FIELDS = {
    "seconds": ("wall_seconds", 1),
    "memory_mb": ("memory_bytes", container_limits.MB),
    "cpus": ("cpus", 1),
    "image_mb": ("image_bytes", container_limits.MB),
}
"""Field of PhaseForm -> (container limit that it sets, number of the limit's units in one unit of the field)."""


class BenchmarkForm(forms.Form):
    """Form to create a benchmark, on an existing dataset or on a new dataset with the benchmark's name."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, label="Short name", help_text=SLUG_HELP)
    task = forms.ChoiceField(choices=lambda: [(name, task.title) for name, task in TASKS.items()])
    summary = forms.CharField(max_length=300, help_text="One sentence for the list of benchmarks.")
    description = forms.CharField(widget=forms.Textarea({"rows": 5}), required=False)
    rules = forms.CharField(widget=forms.Textarea({"rows": 3}), required=False, help_text="What participants agree to.")
    dataset = forms.ModelChoiceField(
        Dataset.objects.order_by("title"), required=False, empty_label="A new dataset, described below"
    )
    licence = forms.CharField(max_length=200, required=False, label="Licence of the new dataset")
    citation = forms.CharField(widget=forms.Textarea({"rows": 3}), required=False, label="Citation of the new dataset")
    source_url = forms.URLField(required=False, label="Source of the new dataset", assume_scheme="https")


class PhaseForm(forms.Form):
    """Form to add a phase on one of the benchmark's splits."""

    title = forms.CharField(max_length=200)
    slug = forms.SlugField(max_length=80, label="Short name", help_text=SLUG_HELP)
    split = forms.ModelChoiceField(Split.objects.none(), empty_label=None)
    options = OptionsField()
    tracks = TracksField()
    opens_at = forms.DateTimeField(required=False, label="Opens", help_text="Empty: immediately.")
    closes_at = forms.DateTimeField(required=False, label="Closes", help_text="Empty: never.")
    time_zone = forms.ChoiceField(
        required=False,
        label="Time zone of these dates",
        help_text="Dates are shown in UTC and in this zone. AoE: anywhere on Earth.",
    )
    quota_per_day = forms.IntegerField(min_value=1, max_value=10_000, initial=5, label="Submissions per team per day")
    quota_total = forms.IntegerField(
        min_value=1, max_value=1_000_000, initial=100, label="Submissions per team in total"
    )
    quota_everybody = forms.IntegerField(
        min_value=1,
        max_value=10_000_000,
        required=False,
        label="Submissions of all teams together",
        help_text="Empty: no limit. Required with one ladder per team: many accounts could probe the gold.",
    )
    disclosure = forms.ChoiceField(
        label="Disclosure of scores",
        choices=[
            (Phase.Disclosure.FULL, "Full: every score with its interval, immediately"),
            (Phase.Disclosure.LADDER, "Ladder: only scores that beat the best shown score by a step"),
            (Phase.Disclosure.SEALED, "Sealed: no scores until a date, then each team's finals"),
        ],
        initial=Phase.Disclosure.FULL,
    )
    scope = forms.ChoiceField(
        label="Ladder compares with",
        choices=[
            (Phase.Scope.TEAM, "the team's best shown score"),
            (Phase.Scope.TASK, "the best shown score of all teams"),
        ],
        initial=Phase.Scope.TEAM,
        help_text="The best of all teams leaks least, but then a score is shown only if it is the best so far.",
    )
    subset = forms.ChoiceField(required=False, label="Scored groups", choices=Phase.Subset.choices)
    sealed_until = forms.DateTimeField(
        required=False,
        label="Unsealed on (sealed phases)",
        help_text="In the same time zone. The phase closes at this time, unless it closes earlier.",
    )
    finals_per_team = forms.IntegerField(
        min_value=1, max_value=1000, initial=1, label="Finals per team (sealed phases)"
    )
    takes_predictions = forms.BooleanField(required=False, initial=True, label="Accepts predictions files")
    takes_images = forms.BooleanField(
        required=False,
        label="Accepts container images",
        help_text="Containers run on this server, on the split's inputs.",
    )
    seconds = forms.FloatField(required=False, min_value=1, max_value=604_800, label="Container time limit, in seconds")
    memory_mb = forms.IntegerField(required=False, min_value=16, max_value=10_000_000, label="Container memory, in MB")
    cpus = forms.FloatField(required=False, min_value=0.1, max_value=1024, label="Container processors")
    image_mb = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, label="Unpacked image size, in MB")
    gpus = forms.IntegerField(required=False, min_value=0, max_value=MAX_GPUS, label="GPUs of each container")
    gpu_memory_gb = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_GPU_MEMORY_GB,
        label="Memory of each GPU at least, in GB",
        help_text="Empty: any.",
    )
    without_gpus = forms.BooleanField(
        required=False, label="Add the phase although no worker has its GPUs; images are refused until one has"
    )
    shows_logs = forms.TypedChoiceField(
        required=False,
        label="Show container output to its team",
        choices=[("", "If the inputs are public"), ("yes", "Yes"), ("no", "No")],
        coerce=lambda value: value == "yes",
        empty_value=None,
        help_text="Output could leak hidden inputs.",
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        defaults = container_limits.defaults()
        for name, (limit, unit) in LIMIT_FIELDS.items():
            self.fields[name].help_text = f"Empty: the server's limit, {getattr(defaults, limit) / unit:,g}."
        self.fields["gpus"].help_text = f"Empty: none. {worker_status.gpus_offered()}"
        if not self.data.get("gpus"):
            del self.fields["without_gpus"]
        self.fields["split"].queryset = _splits_for_phases(dataset)  # type: ignore[attr-defined]
        self.fields["split"].label_from_instance = _split_in_words  # type: ignore[attr-defined]
        self.fields["time_zone"].choices = [(name, name) for name in time_zones.names()]  # type: ignore[attr-defined]
        self.fields["disclosure"].help_text = _steps_in_words(dataset)
        for name in ("opens_at", "closes_at", "sealed_until"):
            self.fields[name].widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def clean(self) -> dict[str, Any]:
        """Convert dates from local time to UTC, and collect the container limits in `limits` as a phase stores them."""
        data = super().clean() or {}
        data["time_zone"] = data.get("time_zone") or "UTC"
        for name in ("opens_at", "closes_at", "sealed_until"):
            if data.get(name) is not None:
                read_local(self, data, name, data["time_zone"])
        for name in ("closes_at", "sealed_until"):
            self._check_is_to_come(name, data.get(name), data["time_zone"])
        limits = {name: data.pop(name, None) for name in LIMIT_FIELDS}
        if self.errors:
            return data
        if any(value is not None for value in limits.values()) and not data["takes_images"]:
            self.add_error(
                "takes_images", "Limits are set, but images are not accepted; tick this or leave the limits empty."
            )
        self._check_gpus(data)
        max_cpus = worker_status.most_processors(worker_status.SYSTEMS_GPU if data.get("gpus") else "systems")
        if max_cpus is not None and limits["cpus"] is not None and limits["cpus"] > max_cpus:
            found = f"{limits['cpus']:g} processors are more than the container engine has"
            self.add_error("cpus", f"{found}; expected at most {max_cpus:g}.")
        data["limits"] = {
            limit: limits[name] if unit == 1 else limits[name] * unit
            for name, (limit, unit) in LIMIT_FIELDS.items()
            if limits[name] is not None
        }
        return data

    def _check_gpus(self, data: dict[str, Any]) -> None:
        """Add a form error for GPUs that no worker has, unless the user has confirmed them."""
        gpus, memory = (data.get(name) or 0 for name in ("gpus", "gpu_memory_gb"))
        data |= {"gpus": gpus, "gpu_memory_gb": memory}
        is_confirmed = data.pop("without_gpus", False)
        if gpus and not data.get("takes_images", True):
            self.add_error("takes_images", "GPUs are for images, which are not accepted; tick this or ask for no GPU.")
        if memory and not gpus:
            self.add_error("gpu_memory_gb", "This is the memory of GPUs, but none is asked for; say how many.")
        why_not = worker_status.why_no_gpus(gpus, memory) if gpus else ""
        if why_not and not is_confirmed:
            self.add_error("gpus", f"{why_not} Ask for less, or confirm below that a worker will come later.")

    def _check_is_to_come(self, name: str, at: datetime | None, zone: str) -> None:
        """Add a form error for a closing or unsealing time that has passed.

        Only the form checks this: an imported benchmark manifest may have past times, for a phase that was held
        elsewhere.
        """
        if at is not None and name not in self.errors and at <= timezone.now():
            self.add_error(name, f"{time_zones.describe(at, zone)} has passed; expected a date in the future.")


def _splits_for_phases(dataset: Dataset) -> QuerySet[Split]:
    """Return the splits on which a phase can be created, without retired ones.

    Splits with hidden gold come first, because the first is preselected. Drafts come last: until a draft is published,
    a phase on it can only be rehearsed.
    """
    drafts = Case(When(state=Split.State.DRAFT, then=1), default=0, output_field=IntegerField())
    splits = dataset.splits.exclude(state=Split.State.RETIRED)
    return splits.order_by(drafts, "gold_public", "id")


def _split_in_words(split: Split) -> str:
    return f"{split.name} ({split.kind}{', draft' if split.is_draft else ''})"


def _steps_in_words(dataset: Dataset) -> str:
    """Return a help text with the step of a ladder on each split, and on its public and private groups."""
    descriptions = []
    for split in dataset.splits.order_by("id"):
        gold = split.current_gold
        if gold is None:
            continue
        partition = PublicPrivatePartition.objects.filter(gold=gold).first()
        counts = {"all groups": gold.n_groups}
        if partition is not None:
            counts |= {"public groups": partition.n_public, "private groups": partition.n_private}
        steps = ", ".join(f"{format_unit_step(n)} on {subset} ({n:,})" for subset, n in counts.items())
        descriptions.append(f"{split.name}: {steps}")
    return (
        "For proportions, the step of a ladder is 1/√groups. " + "; ".join(descriptions) + "." if descriptions else ""
    )
