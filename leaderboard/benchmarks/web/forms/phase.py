"""Forms to add a phase of a chosen kind, and to edit a phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django import forms
from django.db.models import Case, IntegerField, QuerySet, When
from django.utils import timezone
from django.utils.text import slugify

from evaluator.disclosure.ladder import format_unit_step
from leaderboard.benchmarks.actions import benchmarks, edit_phase
from leaderboard.boards.web.forms.tracks import TracksField
from leaderboard.core import time_zones
from leaderboard.core.web.local_time_field import read_local
from leaderboard.core.web.options_field import OptionsField
from leaderboard.evaluation import container_limits
from leaderboard.models import Dataset, Phase, PublicPrivatePartition, Split
from leaderboard.models.benchmark import declared_range
from leaderboard.work_queue import worker_status

LIMIT_FIELDS = {
    "seconds": ("wall_seconds", 1),
    "memory_mb": ("memory_bytes", container_limits.MB),
    "cpus": ("cpus", 1),
    "image_mb": ("image_bytes", container_limits.MB),
}
"""Field of PhaseForm -> (container limit that it sets, number of the limit's units in one unit of the field)."""
DETAILED = {
    Phase.Disclosure.LADDER: "Of those that show a score, with slices and all measures.",
    Phase.Disclosure.FULL: "Of each team, with slices, intervals and all measures.",
    Phase.Disclosure.SEALED: "Of each team's finals, with slices, intervals and all measures.",
}
"""Kind of phase -> among which answers the detailed ones are counted, and what they show."""
DATES = ("opens_at", "closes_at", "sealed_until")


class Kind(NamedTuple):
    """A kind of phase, as described on the page on which organisers choose one. tag: for what it is recommended."""

    title: str
    text: str
    use: str
    tag: str = ""


KINDS = {
    Phase.Disclosure.LADDER: Kind(
        "Ladder",
        "A score is shown, rounded, only if it clearly beats the best score shown so far. Submit a trivial baseline "
        "first: its score is the ladder's first step.",
        "For test phases, also those that stay open for years: many submissions reveal little of the gold.",
        "Recommended for hidden gold",
    ),
    Phase.Disclosure.FULL: Kind(
        "Open",
        "Every score is shown at once, with its interval. A determined participant can learn most of the hidden labels "
        "from such answers.",
        "For development, and for test phases whose labels need no protection, or with few teams and few answers.",
    ),
    Phase.Disclosure.SEALED: Kind(
        "Sealed",
        "No score is shown until a date. Then the finals that each team chose are scored once.",
        "For shared tasks and competitions with a deadline.",
    ),
}
ONLY_OF: dict[str, tuple[Phase.Disclosure, ...]] = {
    "scope": (Phase.Disclosure.LADDER,),
    "keeps_private": (Phase.Disclosure.LADDER,),
    "afterwards": (Phase.Disclosure.FULL,),
    "sealed_until": (Phase.Disclosure.SEALED,),
    "finals_per_team": (Phase.Disclosure.SEALED,),
}
"""Field of PhaseForm -> the kinds that have it. All kinds have the other fields."""
OF_HIDDEN_GOLD = ("least_groups", "detailed_answers", "afterwards", "exact_scores")
"""Fields of PhaseForm without effect on public gold."""


class Section(NamedTuple):
    """A group of form fields. is_folded: the page shows its title only, until it is opened."""

    title: str
    is_folded: bool
    fields: list[forms.BoundField]


SECTIONS = (
    ("", False, ("reason", "title", "slug", "split", "keeps_private", "scope", "sealed_until", "finals_per_team")),
    ("Dates", False, ("opens_at", "closes_at", "time_zone")),
    ("Quota", False, ("quota_per_day", "quota_total", "quota_everybody")),
    ("What is shown", False, OF_HIDDEN_GOLD),
    (
        "Container images",
        True,
        (
            *("takes_predictions", "takes_images", *LIMIT_FIELDS),
            *("gpus", "gpu_memory_gb", "without_gpus", "shows_logs"),
        ),
    ),
    ("More options", True, ("subset", "options", "tracks")),
)
"""(title, is_folded, names of the fields) of each section, in the order of the page."""


def _of(name: str, **options: Any) -> Any:
    """Return the form field of a field of Phase: its type, range, choices and default are the model's.

    options: texts for organisers, and what only the form demands.
    """
    column: Any = Phase._meta.get_field(name)
    if isinstance(column, IntegerField):
        low, high = declared_range(column)
        options = {"min_value": low or 0} | ({} if high is None else {"max_value": high}) | options
    return column.formfield(**{"help_text": "", **options})


class PhaseForm(forms.Form):
    """Form to add a phase of one kind on one of the benchmark's splits."""

    disclosure = forms.CharField(widget=forms.HiddenInput)
    title = _of("title", help_text="Such as Development, Test or Final.")
    slug = _of(
        "slug",
        required=False,
        label="Short name",
        help_text="Part of the URL: letters, digits, hyphens. Cannot be changed later. Empty: made from the title.",
    )
    split = forms.ModelChoiceField(Split.objects.none(), empty_label=None)
    keeps_private = forms.BooleanField(
        required=False,
        label="Score a public half now, and keep a private half for a sealed phase at the end",
        help_text="What participants learn from the public half does not help them on the private one, unless another "
        "phase scores all groups. The groups are divided at random, once and for good. On half of them, the ladder's "
        "steps are 1.4 times as large.",
    )
    scope = _of(
        "scope",
        label="Ladder compares with",
        widget=forms.RadioSelect,
        choices=[
            (Phase.Scope.TASK, "the best shown score of all teams"),
            (Phase.Scope.TEAM, "the team's own best shown score"),
        ],
    )
    sealed_until = _of(
        "sealed_until", required=True, label="Unsealed on", help_text="Then the finals are scored and shown."
    )
    finals_per_team = _of(
        "finals_per_team",
        max_value=1000,
        label="Finals per team",
        help_text="How many of its submissions a team may choose. If it chooses none, its latest counts.",
    )
    opens_at = _of("opens_at", label="Opens", help_text="Empty: immediately.")
    closes_at = _of("closes_at", label="Closes", help_text="Empty: never.")
    time_zone = forms.ChoiceField(
        required=False,
        label="Time zone of these dates",
        help_text="Dates are shown in UTC and in this zone. AoE: anywhere on Earth.",
    )
    quota_per_day = _of("quota_per_day", max_value=10_000, label="Submissions per team per day")
    quota_total = _of("quota_total", max_value=1_000_000, label="Submissions per team in total")
    quota_everybody = _of("quota_everybody", max_value=10_000_000, label="Submissions of all teams together")
    least_groups = _of(
        "least_groups",
        max_value=1_000_000,
        label="Smallest slice shown, in groups",
        help_text="A slice of one group tells that group's labels at once; slices of a few groups tell theirs after a "
        "few answers.",
    )
    detailed_answers = _of("detailed_answers", max_value=1_000_000, label="Detailed answers")
    afterwards = _of(
        "afterwards",
        label="Later answers show",
        widget=forms.RadioSelect,
        help_text="An overall score tells with each answer whether the changed predictions were right, if they are "
        "enough to change a digit. Improvements alone tell much less.",
    )
    exact_scores = _of(
        "exact_scores",
        label="Exact scores",
        help_text="With all digits. Those below the noise do not tell systems apart, but a participant can read labels "
        "from them: 32 from one average precision.",
    )
    subset = _of(
        "subset",
        label="Scored groups",
        help_text="Public and private groups exist once you have divided the split on the page of its gold.",
    )
    options = OptionsField()
    tracks = TracksField()
    takes_predictions = _of("takes_predictions", label="Accepts predictions files")
    takes_images = _of(
        "takes_images",
        label="Accepts container images",
        help_text="Containers run on this server, on the split's inputs.",
    )
    seconds = forms.FloatField(required=False, min_value=1, max_value=604_800, label="Container time limit, in seconds")
    memory_mb = forms.IntegerField(required=False, min_value=16, max_value=10_000_000, label="Container memory, in MB")
    cpus = forms.FloatField(required=False, min_value=0.1, max_value=1024, label="Container processors")
    image_mb = forms.IntegerField(required=False, min_value=1, max_value=1_000_000, label="Unpacked image size, in MB")
    gpus = _of("gpus", required=False, initial=None, label="GPUs of each container")
    gpu_memory_gb = _of(
        "gpu_memory_gb",
        required=False,
        initial=None,
        label="Memory of each GPU at least, in GB",
        help_text="Empty: any.",
    )
    without_gpus = forms.BooleanField(
        required=False, label="Continue although no worker has these GPUs; images are refused until one has"
    )
    shows_logs = forms.TypedChoiceField(
        required=False,
        label="Show container output to its team",
        choices=[("", "If the inputs are public"), ("yes", "Yes"), ("no", "No")],
        coerce=lambda value: value == "yes",
        empty_value=None,
        help_text="Output could leak hidden inputs.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        kind: Phase.Disclosure,
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial={"disclosure": kind, **benchmarks.proposed(kind), **(initial or {})})
        for name, kinds in ONLY_OF.items():
            if kind not in kinds:
                self.fields.pop(name, None)
        defaults = container_limits.defaults()
        for name, (limit, unit) in LIMIT_FIELDS.items():
            self.fields[name].help_text = f"Empty: the server's limit, {getattr(defaults, limit) / unit:,g}."
        self.fields["gpus"].help_text = f"Empty: none. {worker_status.gpus_offered()}"
        if not self.data.get("gpus"):
            del self.fields["without_gpus"]
        if "scope" in self.fields:
            self.fields["scope"].help_text = _steps_in_words(dataset)
        if kind == Phase.Disclosure.LADDER:
            text = "Empty: no limit. Required if the ladder compares with the team's own best."
        else:
            text = "Empty: no limit."
        self.fields["quota_everybody"].help_text = text
        if kind == Phase.Disclosure.SEALED:
            self.fields["closes_at"].help_text = "Empty: when it is unsealed."
        self.fields["detailed_answers"].help_text = (
            f"{DETAILED[kind]} Each slice tells how many predictions in it are right. Later answers show at most the "
            "overall score. Empty: all are detailed."
        )
        self._offer(_splits_for_phases(dataset))
        self.fields["split"].label_from_instance = _split_in_words  # type: ignore[attr-defined]
        self.fields["time_zone"].choices = [(name, name) for name in time_zones.names()]  # type: ignore[attr-defined]
        for name in DATES:
            if name in self.fields:
                self.fields[name].widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def _offer(self, splits: QuerySet[Split]) -> None:
        """Offer splits, and leave out the fields that have no effect on any of them."""
        self.fields["split"].queryset = splits  # type: ignore[attr-defined]
        if all(split.gold_public for split in splits):
            for name in OF_HIDDEN_GOLD:
                self.fields.pop(name, None)
        if "keeps_private" in self.fields:
            preselected = self.initial.get("split") or splits.first()
            self.fields["keeps_private"].initial = preselected is not None and not _why_not_halved(preselected)
            if all(_why_not_halved(split) for split in splits):
                del self.fields["keeps_private"]

    def clean(self) -> dict[str, Any]:
        """Convert dates from local time to UTC, and collect the container limits in `limits` as a phase stores them."""
        data = super().clean() or {}
        self._clean_slug(data)
        self._clean_dates(data)
        self._check_divisible(data)
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

    def sections(self) -> Iterator[Section]:
        """Yield the fields in groups. A group with an error or a value other than the default is not folded."""
        for title, is_folded, names in SECTIONS:
            fields = [self[name] for name in names if name in self.fields]
            if fields:
                yield Section(title, is_folded and not any(self._is_notable(field) for field in fields), fields)

    def _is_notable(self, field: forms.BoundField) -> bool:
        if field.errors:
            return True
        default = self.fields[field.name].initial
        return field.value() not in (default, "", None, False, [], {})

    def _clean_slug(self, data: dict[str, Any]) -> None:
        if "slug" not in self.fields or data.get("slug") or "slug" in self.errors:
            return
        data["slug"] = slugify(data.get("title", ""))[:80]
        if not data["slug"] and "title" in data:
            self.add_error("slug", "The title has no Latin letters to make a short name of; enter one.")

    def _clean_dates(self, data: dict[str, Any]) -> None:
        data["time_zone"] = data.get("time_zone") or "UTC"
        for name in DATES:
            if data.get(name) is not None and not self.fields[name].disabled:
                read_local(self, data, name, data["time_zone"])
        for name in ("closes_at", "sealed_until"):
            self._check_is_to_come(name, data.get(name), data["time_zone"])

    def _check_divisible(self, data: Mapping[str, Any]) -> None:
        if not data.get("keeps_private") or "split" not in data:
            return
        if why_not := _why_not_halved(data["split"]):
            self.add_error("keeps_private", f"{why_not} Untick this, or choose another split.")
        elif data.get("subset") == Phase.Subset.PRIVATE:
            self.add_error(
                "subset", "Above, you chose to keep the private half; score the public groups, or untick that."
            )

    def _check_gpus(self, data: dict[str, Any]) -> None:
        """Add form errors for GPUs without images, for GPU memory without GPUs, and for GPUs that no worker has.

        The last is no error if the user has confirmed that such a worker will come.
        """
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
        """Add a form error to the field `name` if its time `at` has passed. None: the field is empty: no error.

        Only the form checks this: an imported benchmark manifest may have past times, for a phase that was held
        elsewhere.
        zone: name of the time zone in which the error shows the time.
        """
        if at is None or name in self.errors or self.fields[name].disabled:
            return
        if at <= timezone.now():
            self.add_error(name, f"{time_zones.describe(at, zone)} has passed; expected a date in the future.")


class EditPhaseForm(PhaseForm):
    """Form to edit a phase. Fields that must not change any more are disabled, and say why.

    The hidden field `seen` has the version of the phase that the form was opened with (`edit_phase.version_of`).
    """

    reason = forms.CharField(max_length=300, label="Reason for the change", help_text="For the audit trail.")
    seen = forms.CharField(widget=forms.HiddenInput)
    slug = tracks = keeps_private = None  # type: ignore[assignment]

    def __init__(self, data: Mapping[str, Any] | None, *, phase: Phase, kind: Phase.Disclosure) -> None:
        fixed = edit_phase.fixed_fields(phase)
        values = {**_values_of(phase), "disclosure": kind}
        if kind != phase.disclosure:
            values |= benchmarks.proposed(kind)
        super().__init__(data, dataset=phase.split.dataset, kind=kind, initial=values)
        self.fields["seen"].initial = edit_phase.version_of(phase)
        if "split" in fixed:  # it may be retired by now
            self._offer(Split.objects.filter(pk=phase.split_id))
        for name, why in fixed.items():
            if name in self.fields:
                self.fields[name].disabled = True
                self.fields[name].help_text = why
        self.phase = phase

    def changes(self) -> dict[str, Any]:
        """Return the values that the user has changed, by field of Phase, and those that the phase's kind sets."""
        data, kind = self.cleaned_data, self.cleaned_data["disclosure"]
        columns = {field.name for field in Phase._meta.concrete_fields}
        # What is proposed for another kind is a change, too.
        changed = (*self.changed_data, *benchmarks.proposed(kind))
        changes = {name: data[name] for name in changed if name in columns & data.keys()}
        if not LIMIT_FIELDS.keys().isdisjoint(self.changed_data):
            others = self.phase.limits.keys() - {limit for limit, _ in LIMIT_FIELDS.values()}
            changes["limits"] = {name: self.phase.limits[name] for name in others} | data["limits"]
        return {**changes, "disclosure": kind, **({} if kind == Phase.Disclosure.SEALED else {"sealed_until": None})}


def _values_of(phase: Phase) -> dict[str, Any]:
    """Return the values of the form's fields for a phase.

    Dates are local times of the phase's time zone, but labelled as UTC, in which forms show dates.
    """
    values = {field.name: getattr(phase, field.name) for field in Phase._meta.concrete_fields}
    zone = time_zones.zone(phase.time_zone)
    for name in DATES:
        if values[name] is not None:
            values[name] = values[name].astimezone(zone).replace(tzinfo=UTC, second=0, microsecond=0)
    values["options"] = "\n".join(f"{name}={value}" for name, value in phase.options.items())
    values["shows_logs"] = {None: "", True: "yes", False: "no"}[phase.shows_logs]
    values |= {name: values[name] or None for name in ("gpus", "gpu_memory_gb")}
    for name, (limit, unit) in LIMIT_FIELDS.items():
        value = phase.limits.get(limit)
        values[name] = value if value is None or unit == 1 else value // unit
    return values


def _splits_for_phases(dataset: Dataset) -> QuerySet[Split]:
    """Return the splits on which a phase can be created, without retired ones.

    Splits with hidden gold come first, because the first is preselected. Drafts come last: phases on them take
    submissions only while the benchmark is a draft.
    """
    drafts = Case(When(state=Split.State.DRAFT, then=1), default=0, output_field=IntegerField())
    splits = dataset.splits.exclude(state=Split.State.RETIRED)
    return splits.order_by(drafts, "gold_public", "id")


def _why_not_halved(split: Split) -> str:
    """Return, as a sentence, why no half of a split's groups can be kept for a later phase; empty: one can be."""
    gold = split.current_gold
    if gold is None:
        return f"{split.name} has no gold yet."
    if split.gold_public:
        return f"The gold of {split.name} is public, so nothing is kept by dividing it."
    return "" if gold.n_groups > 1 else f"{split.name} has only one group."


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
        counts = {"groups": gold.n_groups}
        if partition is not None:
            counts |= {"public groups": partition.n_public, "private groups": partition.n_private}
        descriptions += [f"{format_unit_step(n)} on {split.name} ({n:,} {groups})" for groups, n in counts.items()]
    steps = f": {', '.join(descriptions)}" if descriptions else ""
    return (
        "With all teams, the least of the gold is revealed. A score is shown only if it is better by at least one "
        f"step. One step is 1/√(number of groups){steps}."
    )
