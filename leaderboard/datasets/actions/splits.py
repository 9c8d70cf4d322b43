"""Splits: create them, and add their inputs and their immutable, numbered gold versions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Max

from evaluator.jsonl.decompress import is_packed
from evaluator.jsonl.tables import table_format
from leaderboard.core import db_locks, row_locks, validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import delete_after_commit, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions import gold_tables, partition_files
from leaderboard.datasets.actions.gold_validation import Prepared, prepare
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Dataset, GoldVersion, PublicPrivatePartition, Split, Submission, User
from leaderboard.scoring.actions import rescoring

log = structlog.get_logger(__name__)


@transaction.atomic
def create_split(
    *,
    dataset: Dataset,
    name: str,
    kind: str,
    gold_public: bool,
    options: dict[str, str] | None = None,
    inputs_public: bool = True,
    by: User,
) -> Split:
    """Create a draft split without data.

    kind: "train", "dev", "test" or "fold". options: task options, value by name, for each phase on the split that does
    not set them itself; None: no options. inputs_public: if False, only submitted containers can read the inputs, and
    the gold cannot be public. Raises Refused: NAME_TAKEN, INVALID_VALUE for an invalid name, kind or option or for
    public gold with hidden inputs, NOT_AN_ORGANISER.
    """
    check_manages_dataset(dataset, by)
    if gold_public and not inputs_public:
        raise Refused(
            Code.INVALID_VALUE,
            "The gold would be public and the inputs hidden, but gold contains the inputs; hide the gold or publish "
            "the inputs.",
        )
    split = Split(
        dataset=dataset,
        name=name,
        kind=kind,
        gold_public=gold_public,
        inputs_public=inputs_public,
        options=options or {},
    )
    check_name_is_free(dataset, name)
    validation.check(split)
    validation.check_options(dataset.task, split.options)
    split.save(force_insert=True)
    AuditEntry.record("split.created", split, by=by, gold_public=gold_public)
    return split


def check_name_is_free(dataset: Dataset, name: str) -> None:
    """Raise Refused NAME_TAKEN if the dataset has a split of this name, ignoring case.

    URLs distinguish upper and lower case, but people would confuse such names.
    """
    existing = dataset.splits.filter(name__iexact=name).first()
    if existing is not None:
        raise Refused(
            Code.NAME_TAKEN, f"The dataset {dataset} already has a split {existing.name}; expected another name."
        )


def add_gold(
    *,
    split: Split,
    file: File[bytes],
    reason: str,
    by: User,
    within: Callable[[GoldVersion], None] | None = None,
) -> GoldVersion:
    """Store a file as the split's next gold version, with the inputs that the sandbox derives from it.

    A table (`tables.FORMATS`) is stored as JSON Lines. Phases on the split are rescored. reason: of the new version,
    shown to the public. within: called with the new version in the transaction that stores it; an exception from
    `within` rolls everything back. None: nothing is called. Raises Refused, and then stores nothing: INVALID_GOLD with
    the invalid lines, GOLD_UNCHANGED for a file that already is a gold version of this split, INPUTS_CHANGED if the
    file would change the inputs of a split that is published or has submissions, CHANGED_MEANWHILE if the gold's groups
    were divided meanwhile, SANDBOX_UNAVAILABLE, NOT_AN_ORGANISER.
    """
    check_manages_dataset(split.dataset, by)
    uploaded = gold_tables.as_json_lines(split=split, file=file, by=by)
    file = uploaded.file
    digest = sha256_of(file)
    check_is_another(split, digest)
    name = (file.name or "gold.jsonl").rpartition("/")[2][-255:]
    prepared = prepare(split=split, file=file, name=name, by=by)
    if uploaded.warnings is not None:
        prepared.facts.warnings = uploaded.warnings
    gold = GoldVersion(
        split=split,
        sha256=digest,
        bytes=file.size,
        reason=reason,
        created_by=by,
        **{field: getattr(prepared.facts, field) for field in prepared.facts.__struct_fields__},
    )
    before = PublicPrivatePartition.objects.filter(gold=split.current_gold).first() if split.current_gold else None
    partition = _partition_corrected(split, file, name, before) if before else None
    file.seek(0)
    gold.file.save("gold.jsonl.gz" if is_packed(name) else "gold.jsonl", file, save=False)
    try:
        with deleted_on_failure(gold.file.storage, str(gold.file.name)):
            _store_gold(gold=gold, prepared=prepared, partition=partition, before=before, by=by, within=within)
    except IntegrityError:
        check_is_another(split, digest)
        raise
    return gold


def add_inputs(*, split: Split, file: File[bytes], by: User) -> Split:
    """Store the inputs of a split whose gold is not available: they can be downloaded, but no phase can use the split.

    file: JSON Lines. Raises Refused: INVALID_GOLD with the invalid lines, ALREADY_EXISTS for a split that already has
    inputs, SANDBOX_UNAVAILABLE, NOT_AN_ORGANISER.
    """
    check_manages_dataset(split.dataset, by)
    if split.inputs:
        raise Refused(
            Code.ALREADY_EXISTS,
            f"The split {split.name} already has inputs. A split's inputs cannot be replaced: create another split "
            "for those in your file.",
        )
    if kind := table_format(file.name or ""):
        raise Refused(
            Code.INVALID_GOLD,
            f"The inputs of {split.name} are a table ({kind}); expected JSON Lines, since inputs are published as they "
            "are.",
        )
    file.seek(0)
    stored, size, digest = _store_inputs(split, file.read())
    waiting = Split(dataset=split.dataset, options=split.options, inputs=stored)
    with deleted_on_failure(split.inputs.storage, stored):
        _check_inputs(waiting)
        with transaction.atomic():
            updated = Split.objects.filter(pk=split.pk, inputs="").update(
                inputs=stored, inputs_bytes=size, inputs_sha256=digest
            )
            if not updated:
                raise Refused(
                    Code.ALREADY_EXISTS,
                    f"The split {split.name} got inputs while yours were checked. A split's inputs cannot be "
                    "replaced: create another split for those in your file.",
                )
            AuditEntry.record("inputs.added", split, by=by, sha256=digest)
            split.refresh_from_db()
    return split


def check_is_another(split: Split, digest: str) -> None:
    """Raise Refused GOLD_UNCHANGED if a file with the SHA-256 `digest` already is a gold version of the split."""
    version = split.gold_versions.filter(sha256=digest).first()
    if version is not None:
        raise Refused(
            Code.GOLD_UNCHANGED,
            f"This file is already gold version {version.number} of {split.name}; expected another file.",
        )


def _partition_corrected(
    split: Split, file: File[bytes], name: str, before: PublicPrivatePartition
) -> partition_files.Partition:
    """Divide the groups of corrected gold into public and private ones, as drawn for the earlier gold.

    file, name: the corrected gold file and its name. before: the division of the earlier gold; its groups stay public
    or private, and only new groups are drawn. Raises Refused as `partition_files.compute` does.
    """
    assert file.file is not None, "the uploaded file has been read, so it is open"
    return partition_files.compute(
        split=split, gold=file.file, name=name, share=before.share, seed=before.seed, previous=before
    )


def _store_gold(
    *,
    gold: GoldVersion,
    prepared: Prepared,
    partition: partition_files.Partition | None,
    before: PublicPrivatePartition | None,
    by: User,
    within: Callable[[GoldVersion], None] | None,
) -> None:
    """Save a gold version, its inputs and its partition in one transaction, and rescore the phases on the split.

    If that fails, the new files of inputs and partition are deleted. gold: unsaved; it gets the next number.
    prepared: the result of validating the gold. partition: the division of its groups into public and private ones;
    None: they are not divided. before: the stored division of the previous gold version when the upload began; None: it
    had none. within: as for `add_gold`. Raises Refused: INPUTS_CHANGED, and CHANGED_MEANWHILE if the division of the
    previous version is no longer `before`, or if the inputs were replaced meanwhile.
    """
    digest = hashlib.sha256(prepared.inputs).hexdigest()
    stored, n_bytes = "", 0
    stored_partition: PublicPrivatePartition | None = None
    try:
        # Files are stored before the split is locked: uploads wait for that lock, and a store may take long.
        split = Split.objects.get(pk=gold.split_id)
        if split.inputs_sha256 != digest:
            _check_inputs_may_change(split)
            stored, n_bytes, _ = _store_inputs(split, prepared.inputs)
        if partition is not None:
            stored_partition = partition_files.store_file(gold=gold, partition=partition, by=by)
        before_lock = split.inputs_sha256
        with transaction.atomic():
            split = row_locks.lock_split(gold.split_id)
            if split.inputs_sha256 != before_lock:
                raise Refused(
                    Code.CHANGED_MEANWHILE,
                    "The inputs of the split were changed while this gold was checked; upload the gold again.",
                    heading="The gold was not accepted",
                )
            if stored:
                _check_inputs_may_change(split)
                if split.inputs:
                    delete_after_commit(split.inputs)
                split.inputs, split.inputs_bytes, split.inputs_sha256 = stored, n_bytes, digest
                split.save(update_fields=["inputs", "inputs_bytes", "inputs_sha256"])
            if PublicPrivatePartition.objects.filter(gold=split.current_gold).first() != before:
                raise Refused(
                    Code.CHANGED_MEANWHILE,
                    "The groups of the split were divided into public and private while this gold was checked; upload "
                    "the gold again.",
                    heading="The gold was not accepted",
                )
            last = split.gold_versions.aggregate(last=Max("number"))["last"] or 0
            gold.number = last + 1
            gold.save(force_insert=True)
            if stored_partition is not None:
                stored_partition.save(force_insert=True)
            AuditEntry.record("gold.added", gold, by=by, number=gold.number, sha256=gold.sha256, reason=gold.reason)
            if within is not None:
                within(gold)
            rescoring.begin_for(gold=gold, by=by)
            gold.split.refresh_from_db()
    except BaseException as error:
        if stored and not db_locks.is_commit_unknown(error):
            gold.split.inputs.storage.delete(stored)
        if stored_partition is not None and not db_locks.is_commit_unknown(error):
            stored_partition.file.storage.delete(str(stored_partition.file.name))
        raise


def _check_inputs_may_change(split: Split) -> None:
    if not split.is_draft and split.inputs:
        raise Refused(
            Code.INPUTS_CHANGED,
            f"The split {split.name} is published, and this gold would change its inputs. A "
            "correction may change only answers; create a new split for other items.",
        )
    _check_nobody_answered(split)


def _check_nobody_answered(split: Split) -> None:
    count = Submission.objects.filter(phase__split=split).count()
    if count:
        raise Refused(
            Code.INPUTS_CHANGED,
            f"The split {split.name} has {count} submission{'s' if count != 1 else ''} for its "
            "inputs, and this gold would change the inputs. "
            + (
                "Reset the draft first, which deletes them."
                if split.is_draft
                else "A correction may change only answers; create a new split for other items."
            ),
        )


def _store_inputs(split: Split, content: bytes) -> tuple[str, int, str]:
    """Store `content` as a file of inputs, return (stored name, number of bytes, SHA-256). The split is not changed."""
    field: Any = Split._meta.get_field("inputs")
    name = split.inputs.storage.save(field.generate_filename(split, "inputs.jsonl"), ContentFile(content))
    return name, len(content), hashlib.sha256(content).hexdigest()


def _check_inputs(waiting: Split) -> None:
    """Raise Refused INVALID_GOLD if the inputs of `waiting`, an unsaved split, are not in the task's format.

    The sandbox has no job for inputs alone. Its job `validate` checks first the inputs, then predictions against them.
    So the inputs are also sent as predictions: problems of these predictions are ignored, problems of the inputs
    refused. Raises Refused SANDBOX_UNAVAILABLE too.
    """
    try:
        with opened(waiting.inputs) as file:
            answer = sandbox_client.validate(
                split=waiting, gold=GoldVersion(expects={}), predictions=file, name="inputs.jsonl", options={}
            )
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable("The inputs could not be checked", error) from error
    if answer.reason:
        limits = sandbox_client.limits_in_words(settings.VALIDATE_SECONDS)
        raise Refused(Code.INVALID_GOLD, f"The inputs could not be checked within the limits for one file: {limits}.")
    if answer.report.get("fault") == "inputs":
        raise Refused(
            Code.INVALID_GOLD,
            f"The inputs are not in the format of the task {waiting.dataset.task}.",
            answer.report.get("problems", []),
            answer.report.get("more", 0),
        )
