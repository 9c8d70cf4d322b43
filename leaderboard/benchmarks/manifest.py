"""Schema of `benchmark.json`, which describes a benchmark in one document. docs/curators.md shows an example."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from django.db.models import BooleanField, DateTimeField, IntegerField
from msgspec import UNSET, Meta, Struct, UnsetType

from leaderboard.boards.queries import facts
from leaderboard.models import Phase
from leaderboard.models.benchmark import PHASE_FIELDS, PhaseField, declared_range
from leaderboard.models.reported_numbers import Value

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Slug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80)]
Moment = Annotated[datetime, Meta(tz=True)]
Options = dict[str, str]
SplitKind = Literal["train", "dev", "test", "fold"]


class Part(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Base of all objects of a manifest. Unknown keys are errors, so that a misspelt key is not silently ignored.

    Keys with default values are not written, so that a new key does not change the digest of hosted benchmarks.
    """


class SplitPart(Part):
    """A split, with the path of its `gold` file, or of an `inputs` file if the gold is not available.

    public_share: fraction of the gold's groups, such as "0.5", that forms the public part of its public/private split;
    empty: the gold is not divided.
    """

    name: Slug
    kind: SplitKind
    gold: str = ""
    inputs: str = ""
    gold_public: bool = False
    inputs_public: bool = True
    options: Options = {}
    public_share: Annotated[str, Meta(pattern=r"^0?\.[0-9]{1,6}$")] = ""

    def __post_init__(self) -> None:
        if bool(self.gold) == bool(self.inputs):
            raise ValueError(
                f"split {self.name} has {'both' if self.gold else 'neither'} of the keys gold and inputs; "
                "expected one of them"
            )


class DownloadPart(Part):
    """An additional public file of the dataset, such as a knowledge graph, web pages or a list of mentions."""

    name: Slug
    file: Name
    title: Name
    description: str = ""


class TrackPart(Part):
    """A track of a phase. A submission to the phase declares one of the phase's tracks."""

    name: Slug
    title: Name
    description: Annotated[str, Meta(max_length=1000)] = ""


_TYPES = {
    "slug": Slug,
    "split": str,
    "options": Options,
    "limits": dict[str, int | float],
    "time_zone": str,
    "tracks": list[TrackPart],
}
"""Field of a phase -> its type in a manifest, where it does not follow from the model's field."""
_KEYS = {"subset": "gold_subset"}
"""Field of a phase -> its key in the document, where that is another."""


def _phase_key(name: str, declared: PhaseField) -> tuple[str, Any, Any]:
    """Return (name, type, default) of a field of PhasePart, made of the model's field."""
    column: Any = Phase._meta.get_field(name)
    kind = _TYPES.get(name) or _type_of(column)
    if column.null:
        kind = kind | None
    if declared.is_promised:
        return name, kind | UnsetType, UNSET
    if not (column.null or column.has_default()):
        return name, kind, msgspec.field()
    default = None if column.null else column.get_default()
    return name, kind, msgspec.field(default=default, name=_KEYS.get(name))


def _type_of(column: Any) -> Any:
    if column.choices:
        return Literal[tuple(value for value, _ in column.choices)]
    if isinstance(column, BooleanField):
        return bool
    if isinstance(column, DateTimeField):
        return Moment
    if isinstance(column, IntegerField):
        low, high = declared_range(column)
        return Annotated[int, Meta(ge=low or 0, le=high)]
    return Annotated[str, Meta(min_length=1, max_length=column.max_length)]


_PhaseKeys: Any = msgspec.defstruct(
    "_PhaseKeys", [_phase_key(*item) for item in PHASE_FIELDS.items()], bases=(Part,), kw_only=True
)


class PhasePart(_PhaseKeys):
    """A phase of the benchmark, with the fields of the model Phase.

    split: name of the split that it scores. subset: the groups of the gold that are scored (empty: all groups); the
    key in the document is `gold_subset`. disclosure: UNSET for a ladder if the gold is hidden, else `full`
    (`benchmarks.recommended`). Other UNSET keys have the values of `benchmarks.proposed`, or else the model's defaults.
    gpus: number of GPUs of each container, each with at least `gpu_memory_gb` GB (0: any).
    """

    def __post_init__(self) -> None:
        if self.gpu_memory_gb and not self.gpus:
            raise ValueError(
                f"phase {self.slug} has gpu_memory_gb {self.gpu_memory_gb} but no gpus; expected gpus "
                "of at least 1, or no gpu_memory_gb"
            )
        _check_unique("track", [track.name for track in self.tracks])

    def given(self) -> dict[str, Any]:
        """Return the fields that are not UNSET, by name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not UNSET}


class SystemPart(Part):
    """A system to submit to a phase, usually a baseline.

    It has either the path of a predictions file or the folder from which its container image is built. later: True if
    the image is built by `manage.py seed --systems`, which a first start runs after the site is ready.
    """

    name: Name
    team: Annotated[str, Meta(min_length=1, max_length=100)]
    phase: str
    track: str = ""
    predictions: str = ""
    image: str = ""
    later: bool = False
    kind: Literal["participant", "baseline", "organiser"] = "baseline"
    description: str = ""
    paper_url: str = ""
    code_url: str = ""

    def __post_init__(self) -> None:
        if bool(self.predictions) == bool(self.image):
            named = "both" if self.image else "neither"
            raise ValueError(f"system {self.name} has {named} of the keys predictions and image; expected one of them")
        if self.later and not self.image:
            raise ValueError(f"system {self.name} has the key later without image; expected both or neither")


class ReportedPart(Part):
    system: Name
    paper: Annotated[str, Meta(min_length=1, max_length=300)]
    split: Name
    values: Annotated[list[Value], Meta(min_length=1)]
    table: str = ""
    same_split: bool = False
    track: str = ""
    note: Annotated[str, Meta(max_length=300)] = ""


class FactPart(Part):
    """A fact that the benchmark asks about each system, such as its number of parameters."""

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$", max_length=facts.LONGEST_NAME)]
    title: Annotated[str, Meta(min_length=1, max_length=facts.LONGEST_TITLE)]
    kind: Literal["text", "number", "yes-no"]


class Manifest(Part):
    """A benchmark: its dataset, phases and rules.

    organisers: as shown to everybody, each with name, affiliation and, if there is one, a link, separated by commas.
    main_phase: slug of the phase whose board the benchmark's page shows; empty: chosen by its results.
    """

    slug: Slug
    title: Name
    task: str
    summary: Annotated[str, Meta(min_length=1, max_length=300)]
    splits: Annotated[list[SplitPart], Meta(min_length=1)]
    phases: Annotated[list[PhasePart], Meta(min_length=1)]
    description: str | list[str] = ""
    rules: str | list[str] = ""
    licence: str = ""
    citation: str = ""
    source: str = ""
    source_url: str = ""
    contact: Annotated[str, Meta(max_length=300)] = ""
    questions_url: Annotated[str, Meta(max_length=200)] = ""
    paper_url: Annotated[str, Meta(max_length=200)] = ""
    organisers: list[str] = []
    access: Literal["open", "approval", "invited"] = "open"
    asks_agreement: bool = False
    teams_may_hide: bool = True
    main_phase: str = ""
    facts: Annotated[list[FactPart], Meta(max_length=facts.MOST)] = []
    public: bool = True
    downloads: list[DownloadPart] = []
    systems: list[SystemPart] = []
    reported: list[ReportedPart] = []
    audit_answers: dict[str, str] = {}
    """Public answers to findings of the audits of its hidden splits, by code."""
    schema: str = msgspec.field(default="", name="$schema")
    """Address of the JSON Schema, for editors."""

    def __post_init__(self) -> None:
        if self.asks_agreement and not self.rules:
            raise ValueError("asks_agreement is true, but there are no rules to agree to; expected rules")
        _check_unique("fact", [fact.name for fact in self.facts])
        if self.main_phase:
            slugs = {phase.slug for phase in self.phases}
            _check_known("main_phase", self.main_phase, slugs, "a phase of this manifest")
        _check_unique("split", [split.name for split in self.splits])
        _check_unique("phase", [phase.slug for phase in self.phases])
        _check_unique("download", [download.name for download in self.downloads])
        hidden = {split.gold for split in self.splits if split.gold and not split.gold_public}
        for download in self.downloads:
            if download.file in hidden:
                raise ValueError(f"download {download.name} is hidden gold, {download.file}; expected a public file")
        scorable = {split.name for split in self.splits if split.gold}
        for phase in self.phases:
            _check_known(f"phase {phase.slug}: split", phase.split, scorable, "a split with gold")
        for system in self.systems:
            _check_known(
                f"system {system.name}: phase",
                system.phase,
                {phase.slug for phase in self.phases},
                "a phase of this manifest",
            )
            if system.image:
                takers = {phase.slug for phase in self.phases if phase.takes_images}
                _check_known(
                    f"system {system.name} is an image: phase", system.phase, takers, "a phase that accepts images"
                )
            tracks = {track.name for phase in self.phases if phase.slug == system.phase for track in phase.tracks}
            _check_track(f"system {system.name}: track", system.track, tracks)
        all_tracks = {track.name for phase in self.phases for track in phase.tracks}
        for row in self.reported:
            _check_track(f"reported {row.system}: track", row.track, all_tracks | {""})


class ManifestError(Exception):
    """Error: a manifest is invalid. The message says where and why."""


def read(path: Path) -> Manifest:
    """Read a manifest from a file, usually `benchmark.json`.

    Raises ManifestError for a file that cannot be read or is not a valid manifest.
    """
    try:
        return msgspec.convert(msgspec.json.decode(path.read_bytes()), Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise ManifestError(f"{path}: {error}") from error


def convert(document: dict[str, Any]) -> Manifest:
    """Convert decoded JSON to a manifest. Raises ManifestError for an invalid document."""
    try:
        return msgspec.convert(document, Manifest)
    except msgspec.ValidationError as error:
        raise ManifestError(f"manifest: {error}") from error


def json_schema(address: str) -> dict[str, Any]:
    """Return the JSON Schema of a manifest, with `address` as its identifier.

    It is generated from the classes of this module. Of their further checks, it has those that JSON Schema can express.
    """
    (schema,), parts = msgspec.json.schema_components([Manifest], ref_template="#/$defs/{name}")
    parts["SplitPart"]["oneOf"] = _either("gold", "inputs")
    parts["SystemPart"]["oneOf"] = _either("predictions", "image")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": address,
        "title": "benchmark.json of Holdout",
        **schema,
        "$defs": parts,
    }


def _either(one: str, other: str) -> list[dict[str, Any]]:
    """Return the JSON Schema alternatives in which exactly one of two keys has a text that is not empty."""
    return [
        {"required": [used], "properties": {used: {"minLength": 1}, unused: {"maxLength": 0}}}
        for used, unused in ((one, other), (other, one))
    ]


def text(paragraphs: str | list[str]) -> str:
    """Return a text of a manifest as one string. A list of paragraphs is joined with blank lines."""
    return paragraphs if isinstance(paragraphs, str) else "\n\n".join(paragraphs)


def _check_unique(noun: str, names: list[str]) -> None:
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(f"{noun} {duplicates[0]} is listed twice; expected each name once")


def _check_track(what: str, name: str, tracks: set[str]) -> None:
    """Raise ValueError unless `name` is one of the tracks; if there are none, it must be empty.

    what: noun for `name` in the message.
    """
    if name not in (tracks or {""}):
        expected = f"one of {', '.join(sorted(tracks - {''}))}" if tracks else "none"
        raise ValueError(f"{what} is {name!r}; expected {expected}")


def _check_known(what: str, name: str, known: set[str], allowed: str) -> None:
    """Raise ValueError unless `name` is known. allowed: noun for a known name, such as `a split with gold`.

    what: noun for `name` in the message.
    """
    if name not in known:
        names = f": {', '.join(sorted(known))}" if known else ", but the manifest has none"
        raise ValueError(f"{what} is {name!r}; expected {allowed}{names}")
