"""Actions that create and publish benchmarks, and add phases and reported results."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from leaderboard.benchmarks.actions import draft
from leaderboard.boards.actions import tracks as declared_tracks
from leaderboard.core import time_zones, validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_is_curator, check_manages
from leaderboard.datasets.actions import partition_gold
from leaderboard.evaluation.container_limits import with_changes
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Dataset,
    Phase,
    PublicPrivatePartition,
    ReportedResult,
    Split,
    User,
)
from leaderboard.models.benchmark import LADDER_LEAST_GROUPS


@transaction.atomic
def create(
    *,
    slug: str,
    title: str,
    task: str,
    dataset: Dataset,
    summary: str,
    description: str,
    rules: str,
    by: User,
) -> Benchmark:
    """Create a draft benchmark with `by` as its first organiser.

    Raises Refused: NOT_AN_ORGANISER for a user who is not a curator; INVALID_VALUE for an invalid value or a dataset of
    another task; NAME_TAKEN for the slug of another benchmark.
    """
    check_is_curator(by, to="create benchmarks")
    validation.check_task(task)
    if dataset.task != task:
        raise Refused(
            Code.INVALID_VALUE, f"The dataset {dataset} is for the task {dataset.task}; expected one for {task}."
        )
    benchmark = Benchmark(
        slug=slug, title=title, task=task, dataset=dataset, summary=summary, description=description, rules=rules
    )
    validation.check_texts(title=title, summary=summary, description=description, rules=rules)
    validation.check(benchmark)
    benchmark.save(force_insert=True)
    benchmark.organisers.add(by)
    AuditEntry.record("benchmark.created", benchmark, by=by)
    return benchmark


def recommended(split: Split) -> Phase.Disclosure:
    """Return the disclosure policy of a new phase whose organiser does not name one: a ladder if the gold is hidden."""
    return Phase.Disclosure.FULL if split.gold_public else Phase.Disclosure.LADDER


def proposed(disclosure: str) -> dict[str, Any]:
    """Return what is proposed for a new phase with a disclosure policy, where it is not the model's default."""
    ladder = {"scope": Phase.Scope.TASK, "least_groups": LADDER_LEAST_GROUPS, "detailed_answers": 0}
    return ladder if disclosure == Phase.Disclosure.LADDER else {}


def add_phase_on_half(*, phase: Phase, by: User) -> Phase:
    """Add a phase that scores the public groups of a split: half of them, drawn at random unless they are divided.

    The groups are divided in the transaction that adds the phase, so that they stay as they are if it is refused.
    phase: as for `add_phase`. Raises Refused as `add_phase` and `partition_gold.partition` do.
    """
    phase.subset = Phase.Subset.PUBLIC
    if PublicPrivatePartition.objects.filter(gold=phase.split.current_gold).exists():
        return add_phase(phase=phase, by=by)
    partition_gold.partition(split=phase.split, by=by, within=lambda _: add_phase(phase=phase, by=by))
    return phase


@transaction.atomic
def add_phase(*, phase: Phase, by: User) -> Phase:
    """Store a new phase of a benchmark, on one split of the benchmark's dataset, as its last phase. Return it.

    A sealed phase closes when it is unsealed, unless `closes_at` is earlier. Raises Refused: NOT_AN_ORGANISER,
    INVALID_VALUE, NAME_TAKEN; NOT_POSSIBLE for a retired split; NOT_READY for a `subset` of gold that has no
    public/private split yet.
    """
    check_manages(phase.benchmark, by)
    phase.position = phase.benchmark.phases.count()
    phase.tracks = declared_tracks.validated(phase.tracks)
    if phase.disclosure == Phase.Disclosure.SEALED:
        phase.closes_at = phase.closes_at or phase.sealed_until
    if phase.split.state == Split.State.RETIRED:
        raise Refused(
            Code.NOT_POSSIBLE,
            f"The split {phase.split.name} is retired; a retired split takes no new phases.",
            heading="The phase was not added",
            field_name="split",
        )
    check_phase(phase)
    phase.save(force_insert=True)
    AuditEntry.record("phase.created", phase, by=by, disclosure=phase.disclosure)
    return phase


@transaction.atomic
def take_images(*, phase: Phase, limits: dict[str, Any], by: User, gpus: int = 0, gpu_memory_gb: int = 0) -> Phase:
    """Let a phase accept container images.

    limits: container limits that differ from the server's. gpus, gpu_memory_gb: as in Phase. Raises Refused:
    NOT_AN_ORGANISER; INVALID_VALUE for invalid limits.
    """
    check_manages(phase.benchmark, by)
    _check_takes(phase.split, phase.takes_predictions, True, limits)
    phase.takes_images, phase.limits = True, limits
    phase.gpus, phase.gpu_memory_gb = gpus, gpu_memory_gb
    phase.save(update_fields=["takes_images", "limits", "gpus", "gpu_memory_gb"])
    asked = {"gpus": gpus, "gpu_memory_gb": gpu_memory_gb} if gpus else {}
    AuditEntry.record("phase.takes_images", phase, by=by, limits={**limits, **asked})
    return phase


def check_phase(phase: Phase) -> None:
    """Raise Refused for a phase that must not be stored; `Refused.field_name` says which of its values is wrong."""
    benchmark, split, zone = phase.benchmark, phase.split, phase.time_zone
    validation.check_moments(opens_at=phase.opens_at, closes_at=phase.closes_at, sealed_until=phase.sealed_until)
    if split.dataset_id != benchmark.dataset_id:
        raise Refused(
            Code.INVALID_VALUE,
            f"The split {split} belongs to another dataset; expected a split of {benchmark.dataset.slug}.",
            field_name="split",
        )
    if zone not in time_zones.names():
        raise Refused(
            Code.INVALID_VALUE,
            f"The time zone is {zone[:60]!r}; expected UTC, AoE or an IANA name such as Europe/Berlin.",
            field_name="time_zone",
        )
    if phase.opens_at and phase.closes_at and phase.closes_at <= phase.opens_at:
        opens, closes = time_zones.describe(phase.opens_at, zone), time_zones.describe(phase.closes_at, zone)
        raise Refused(
            Code.INVALID_VALUE,
            f"The phase would open on {opens} and close on {closes}; expected a later end.",
            field_name="closes_at",
        )
    try:
        validation.check_options(benchmark.task, {**split.options, **phase.options})
    except Refused as refused:
        refused.field_name = "options"
        raise
    _check_takes(split, phase.takes_predictions, phase.takes_images, phase.limits)
    _check_disclosure(phase)
    validation.check(phase)


def _check_disclosure(phase: Phase) -> None:
    sealed = phase.disclosure == Phase.Disclosure.SEALED
    if sealed and phase.sealed_until is None:
        raise Refused(
            Code.INVALID_VALUE,
            "The phase is sealed, but has no date; expected the date when it is unsealed.",
            field_name="sealed_until",
        )
    if not sealed and phase.sealed_until is not None:
        raise Refused(Code.INVALID_VALUE, "Only a sealed phase has a date of unsealing; leave the date empty.")
    if phase.sealed_until and phase.closes_at and phase.closes_at > phase.sealed_until:
        unsealed = time_zones.describe(phase.sealed_until, phase.time_zone)
        closes = time_zones.describe(phase.closes_at, phase.time_zone)
        raise Refused(
            Code.INVALID_VALUE,
            f"The phase would be unsealed on {unsealed}, while it still accepts submissions; expected {closes}, when "
            "it closes, or a later date.",
            field_name="sealed_until",
        )
    has_team_ladders = phase.disclosure == Phase.Disclosure.LADDER and phase.scope == Phase.Scope.TEAM
    if has_team_ladders and phase.quota_everybody is None:
        raise Refused(
            Code.INVALID_VALUE,
            "With one ladder per team, also set a limit for all teams together, or use one ladder for everybody.",
            field_name="quota_everybody",
        )
    if phase.subset and not PublicPrivatePartition.objects.filter(gold=phase.split.current_gold).exists():
        raise Refused(
            Code.NOT_READY,
            f"The groups of the split {phase.split.name} are not divided into public and private ones yet; divide them "
            "on the page of its gold first.",
            heading="The phase was not saved",
            field_name="subset",
        )


def _check_takes(split: Split, predictions: bool, images: bool, limits: dict[str, Any]) -> None:
    if not predictions and not images:
        raise Refused(
            Code.INVALID_VALUE,
            "The phase accepts nothing; expected predictions files, images, or both.",
            field_name="takes_predictions",
        )
    if predictions and not split.inputs_public:
        raise Refused(
            Code.INVALID_VALUE,
            f"The inputs of the split {split.name} are hidden, so nobody could make predictions files; expected images "
            "only.",
            field_name="takes_predictions",
        )
    try:
        with_changes(limits)
    except ValueError as error:
        raise Refused(Code.INVALID_VALUE, f"The limits are not valid: {error}.") from error


def why_not_published(benchmark: Benchmark) -> str:
    """Return, as a sentence, why a draft benchmark cannot be published; empty: it can be."""
    phases = list(benchmark.phases.select_related("split"))
    for phase in phases:
        if phase.split.current_gold is None:
            return f"The phase {phase.title} has no gold yet; upload gold for its split {phase.split.name}."
        if phase.split.is_draft:
            return f"The split {phase.split.name} is a draft; publish it first."
    if phases:
        return ""
    if not benchmark.dataset.splits.exclude(state=Split.State.RETIRED).exists():
        return "The benchmark has no split yet; create one first, and then a phase on it."
    return "The benchmark has no phase yet; add one first."


@transaction.atomic
def publish(*, benchmark: Benchmark, by: User) -> Benchmark:
    """Publish a benchmark: for everybody, or for invited teams, as its `access` says.

    Its phases need published splits with gold. All that was tried on the draft is deleted (`draft.empty`), and it has
    no testers any more. If it is published already, nothing happens.

    Raises Refused: NOT_AN_ORGANISER; NOT_READY with the reason that `why_not_published` returns.
    """
    check_manages(benchmark, by)
    if why_not := why_not_published(benchmark):
        raise Refused(Code.NOT_READY, why_not, heading="The benchmark was not published")
    locked = Benchmark.objects.select_for_update(of=("self",), no_key=True).get(pk=benchmark.pk)
    if locked.is_draft:
        n_submissions = draft.empty(locked)
        locked.testers.clear()
        locked.state = locked.published_state
        locked.save(update_fields=["state"])
        AuditEntry.record("benchmark.published", locked, by=by, submissions_deleted=n_submissions)
    benchmark.state = locked.state
    return benchmark


@transaction.atomic
def add_reported(*, row: ReportedResult, by: User) -> ReportedResult:
    """Store a new result as reported in a paper, as the last of its benchmark. Return it.

    Raises Refused: NOT_AN_ORGANISER, INVALID_VALUE, NAME_TAKEN.
    """
    check_manages(row.benchmark, by)
    row.position = row.benchmark.reported_results.count()
    validation.check(row)
    row.save(force_insert=True)
    AuditEntry.record("reported.added", row, by=by)
    return row


@transaction.atomic
def remove_reported(*, row: ReportedResult, by: User) -> None:
    """Remove a result as reported in a paper. Raises Refused NOT_AN_ORGANISER."""
    check_manages(row.benchmark, by)
    detail = {name: getattr(row, name) for name in ("system", "paper", "table", "split")}
    AuditEntry.record("reported.removed", row.benchmark, by=by, **detail)
    row.delete()
