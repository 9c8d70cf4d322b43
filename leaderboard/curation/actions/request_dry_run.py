"""Requests for dry runs, which score baselines on a split before others can submit to it.

Baselines are scored like submissions, in the sandbox, by a scoring worker that gives priority to submissions. A dry run
creates only its own row: no submission, no quota charge, no release. Its scores reveal information about hidden gold,
so only managers of the split can read them. `run_dry_run` has the worker's side.
"""

from __future__ import annotations

from typing import IO, Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluator.jsonl.decompress import is_packed
from evaluator.tasks.registry import TASKS
from leaderboard.core import db_clock
from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import delete_after_commit, deleted_on_failure
from leaderboard.core.uploads import sha256_of
from leaderboard.curation.actions import run_dry_run
from leaderboard.curation.queries.dry_run_report import settings_of
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    ACTIVE,
    AuditEntry,
    Benchmark,
    DryRun,
    GoldVersion,
    Phase,
    PublicPrivatePartition,
    Split,
    State,
    User,
)
from leaderboard.submissions.actions import validation

STANDING = (*ACTIVE, State.DONE)
MAX_TRAIN_FILES = sandbox_client.MAX_FILES - 2
MOST_FILES = 50
"""Maximum number of uploaded baselines of one gold version."""


def why_not(split: Split) -> str:
    """Return a sentence that says why no dry run on a split is possible; empty: it is possible.

    Once a phase of a published benchmark on the split has opened, baselines must be submitted to the phase instead.
    """
    if split.current_gold is None or not split.inputs:
        return f"The split {split.name} has no gold yet; there is nothing to score."
    published = (Benchmark.State.PUBLIC, Benchmark.State.PRIVATE)
    phases = Phase.objects.filter(split=split, benchmark__state__in=published).select_related("benchmark")
    open_phase = next((phase for phase in phases if not split.is_draft and not phase.is_to_come()), None)
    if open_phase is not None:
        return (
            f"The phase {open_phase.title} has opened, so no new dry run can start. Baselines that were already "
            "scored can be put on its board here; submit others to the phase like any system."
        )
    return ""


def begin(*, split: Split, phase: Phase | None, by: User) -> list[DryRun]:
    """Queue a dry run of every trivial baseline of the task on the split's current gold. Return the new rows.

    Baselines with a queued, running or finished dry run on that gold with the same settings are left out; dry runs with
    former settings of the phase are replaced. phase: sets the options and the public or private groups to score; None:
    the split's options, all groups.
    Raises Refused: NOT_AN_ORGANISER; INVALID_VALUE for a phase on another split; NOT_READY with the reason that
    `why_not` returns, or if the phase scores public or private groups that are not divided yet.
    """
    gold = _gold_to_score(split, phase, by)
    fields, trains = _fields(gold, phase, by), _public_gold(split)
    queued = []
    for baseline in TASKS[split.dataset.task].baselines:
        row = _enqueue(DryRun(kind=DryRun.Kind.TRIVIAL, name=baseline.name, **fields), trains)
        queued += [row] if row is not None else []
    if queued:
        AuditEntry.record("dry_run.begun", split, by=by, gold=gold.number, baselines=[row.name for row in queued])
    return queued


def add(*, split: Split, phase: Phase | None, file: UploadedFile, name: str, by: User) -> DryRun:
    """Validate an uploaded predictions file and queue a dry run of it.

    phase: as in `begin`. name: of the baseline whose predictions the file has. Raises Refused: INVALID_PREDICTIONS with
    the invalid lines; NAME_TAKEN if there is a dry run of this name with the same gold and settings; INVALID_VALUE for
    the name, and as in `begin`; SANDBOX_UNAVAILABLE; THROTTLED as `refused_uploads.check` does; NOT_READY as in
    `begin`, or if the gold version already has MOST_FILES uploaded baselines; NOT_AN_ORGANISER. For a refused file
    nothing but an audit entry is stored.
    """
    gold = _gold_to_score(split, phase, by)
    name = names.checked(name, of="baseline", longest=120)
    if gold.dry_runs.filter(kind=DryRun.Kind.FILE).count() >= MOST_FILES:
        raise Refused(
            Code.LIMIT_REACHED,
            f"This gold version has {MOST_FILES} uploaded baselines, the maximum; remove some first.",
            heading="The file was not accepted",
        )
    fields = _fields(gold, phase, by)
    validation.validate_now(
        split=split,
        gold=gold,
        file=cast(IO[bytes], file.file),
        name=(file.name or "predictions.jsonl")[-255:],
        options=fields["options"],
        action="dry_run.refused",
        subject=split,
        by=by,
    )
    row = DryRun(kind=DryRun.Kind.FILE, name=name, sha256=sha256_of(file), bytes=file.size or 0, **fields)
    file.seek(0)
    is_gzip = is_packed(file.name or "")
    row.file.save("predictions.jsonl.gz" if is_gzip else "predictions.jsonl", file, save=False)
    with deleted_on_failure(row.file.storage, str(row.file.name)):
        queued = _enqueue(row, [])
        if queued is None:
            raise Refused(
                Code.NAME_TAKEN,
                f"There is already a dry run of a baseline named {name}; choose another name or remove that dry run.",
            )
        AuditEntry.record("dry_run.added", split, by=by, gold=gold.number, name=name, sha256=row.sha256)
    return queued


@transaction.atomic
def remove(*, row: DryRun, by: User) -> None:
    """Delete a dry run in any state; a worker's later report on the dry run is ignored.

    Raises Refused NOT_AN_ORGANISER.
    """
    check_manages_dataset(row.gold.split.dataset, by)
    locked = DryRun.objects.select_for_update().filter(pk=row.pk).first()
    if locked is None:
        return
    AuditEntry.record("dry_run.removed", locked.gold.split, by=by, gold=locked.gold.number, name=locked.name)
    if locked.file:
        delete_after_commit(locked.file)
    locked.delete()


def _gold_to_score(split: Split, phase: Phase | None, by: User) -> GoldVersion:
    check_manages_dataset(split.dataset, by)
    if phase is not None and phase.split_id != split.pk:
        raise Refused(
            Code.INVALID_VALUE, f"The phase {phase.title} is not on the split {split.name}; expected a phase on it."
        )
    if reason := why_not(split):
        raise Refused(Code.NOT_READY, reason, heading="The dry run was not started")
    gold = split.current_gold
    assert gold is not None, "why_not ensures that there is gold"
    if phase is not None and phase.subset and not PublicPrivatePartition.objects.filter(gold=gold).exists():
        raise Refused(
            Code.NOT_READY,
            f"The groups of the split {split.name} are not divided into public and private ones yet; divide them "
            "on the page of its gold first.",
            heading="The dry run was not started",
        )
    return gold


def _fields(gold: GoldVersion, phase: Phase | None, by: User) -> dict[str, Any]:
    at = timezone.now()
    return {
        "gold": gold,
        **settings_of(gold.split, phase),
        "inputs_sha256": gold.split.inputs_sha256,
        "requested_by": by,
        "queued_at": at,
        "enqueued_at": db_clock.now(),
    }


def _public_gold(split: Split) -> list[GoldVersion]:
    """Return the current gold of the dataset's other splits whose gold is public, from which baselines may learn.

    At most MAX_TRAIN_FILES gold versions are returned, those of the splits that were created first.
    """
    others = split.dataset.splits.filter(gold_public=True).exclude(pk=split.pk).order_by("pk")
    return [gold for other in others if (gold := other.current_gold) is not None][:MAX_TRAIN_FILES]


def _enqueue(row: DryRun, trains: list[GoldVersion]) -> DryRun | None:
    """Store an unsaved dry run and queue it. Return the row, or None if an equal dry run is queued, running or done.

    Dry runs are equal if they have the same gold, phase settings and name. An uploaded file also counts as equal with
    other options or groups, because it cannot be made again. trains: public gold from which the baseline may learn.
    """
    key = {"gold": row.gold, "scored_as": row.scored_as, "name": row.name}
    try:
        with transaction.atomic():
            standing = DryRun.objects.filter(**key, state__in=STANDING).first()
            if standing is not None and (
                standing.kind == DryRun.Kind.FILE or (standing.subset, standing.options) == (row.subset, row.options)
            ):
                return None
            # Failed and rejected dry runs, and those with former settings of the phase, are replaced.
            DryRun.objects.filter(**key, kind=DryRun.Kind.TRIVIAL).delete()
            row.save(force_insert=True)
            row.trains.set(trains)
            run_dry_run.WORK.enqueue(row)
            return row
    except IntegrityError:  # a concurrent request created it
        return None
