"""Splits of datasets, and the gold that is kept of a split, one immutable version after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import structlog
from django.core.files import File
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Max

from leaderboard.core import validation
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import opened
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions import halves_files
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.datasets.actions.gold_validation import Prepared, prepare
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Dataset, Division, GoldVersion, Split, Submission, User
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
    """A draft without data. `options` are the task's, and hold in each of its phases.

    Inputs that are not public are seen by submitted containers alone; gold of such a split cannot be public.
    """
    check_manages(dataset, by)
    if gold_public and not inputs_public:
        raise Refused(Code.INVALID_NAME, "The gold would be public and the inputs hidden; gold holds the inputs.")
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
    """Raises Refused NAME_TAKEN for the name of a split of the dataset, in whatever case: addresses tell them apart,
    people do not."""
    there = dataset.splits.filter(name__iexact=name).first()
    if there is not None:
        raise Refused(
            Code.NAME_TAKEN, f"The dataset {dataset} has a split {there.name} already; expected another name."
        )


def add_gold(
    *,
    split: Split,
    file: File[bytes],
    reason: str,
    by: User,
    within: Callable[[GoldVersion], None] | None = None,
) -> GoldVersion:
    """Keep a file as the split's next gold version, and publish the inputs that the referee makes of it.

    within: what else belongs into the transaction that keeps it; what that raises keeps nothing.
    Raises Refused: INVALID_GOLD with the lines at fault, GOLD_UNCHANGED for a file that is a version of this split
    already, INPUTS_CHANGED where the split is published, or teams have answered its inputs, and the file would change
    them, REFEREE_AWAY, NOT_AN_ORGANISER. Nothing is left behind then.
    """
    check_manages(split.dataset, by)
    digest = sha256_of(file)
    check_is_another(split, digest)
    name = (file.name or "gold.jsonl").rpartition("/")[2][-255:]
    prepared = prepare(split=split, file=file, name=name)
    gold = GoldVersion(
        split=split,
        sha256=digest,
        bytes=file.size,
        reason=reason,
        created_by=by,
        **{field: getattr(prepared.facts, field) for field in prepared.facts.__struct_fields__},
    )
    before = Division.objects.filter(gold=split.current_gold).first() if split.current_gold else None
    drawn = _divided_again(split, file, name, before) if before else None
    file.seek(0)
    gold.file.save("gold.jsonl.gz" if name.endswith(".gz") else "gold.jsonl", file, save=False)
    try:
        _keep(gold=gold, prepared=prepared, drawn=drawn, before=before, by=by, within=within)
    except BaseException as error:
        gold.file.storage.delete(str(gold.file.name))
        if isinstance(error, IntegrityError):
            check_is_another(split, digest)
        raise
    split.refresh_from_db()
    return gold


def add_inputs(*, split: Split, file: File[bytes], by: User) -> Split:
    """Publish inputs whose gold nobody here has: they can be downloaded, and no phase can be opened on them.

    Raises Refused: INVALID_GOLD with the lines at fault, NAME_TAKEN for a split that has inputs already.
    """
    check_manages(split.dataset, by)
    if split.inputs:
        raise Refused(Code.NAME_TAKEN, f"The split {split.name} has inputs already.")
    file.seek(0)
    stored, size, digest = _store_inputs(split, file.read())
    waiting = Split(dataset=split.dataset, options=split.options, inputs=stored)
    try:
        _check_inputs(waiting)
        with transaction.atomic():
            kept = Split.objects.filter(pk=split.pk, inputs="").update(
                inputs=stored, inputs_bytes=size, inputs_sha256=digest
            )
            if not kept:
                raise Refused(Code.NAME_TAKEN, f"The split {split.name} has inputs already.")
            AuditEntry.record("inputs.added", split, by=by, sha256=digest)
    except BaseException:
        split.inputs.storage.delete(stored)
        raise
    split.refresh_from_db()
    return split


def check_is_another(split: Split, digest: str) -> None:
    """Raises Refused GOLD_UNCHANGED for the sha256 of a version of the split."""
    same = split.gold_versions.filter(sha256=digest).first()
    if same is not None:
        raise Refused(Code.GOLD_UNCHANGED, f"This file is gold version {same.number} of {split.name} already.")


def _divided_again(split: Split, file: File[bytes], name: str, before: Division) -> halves_files.Drawn:
    """The halves of corrected gold: groups that stay keep their half."""
    assert file.file is not None, "it was read a moment ago"
    return halves_files.draw(split=split, gold=file.file, name=name, share=before.share, seed=before.seed, kept=before)


def _keep(
    *,
    gold: GoldVersion,
    prepared: Prepared,
    drawn: halves_files.Drawn | None,
    before: Division | None,
    by: User,
    within: Callable[[GoldVersion], None] | None,
) -> None:
    """Rows in one transaction; the files of inputs and halves go again if it fails."""
    digest = hashlib.sha256(prepared.inputs).hexdigest()
    stored = ""
    division: Division | None = None
    try:
        with transaction.atomic():
            split = Split.objects.select_for_update().get(pk=gold.split_id)
            if split.inputs_sha256 != digest:
                _check_inputs_may_change(split)
                replaced, storage = split.inputs.name, split.inputs.storage
                stored, split.inputs_bytes, split.inputs_sha256 = _store_inputs(split, prepared.inputs)
                split.inputs = stored
                split.save(update_fields=["inputs", "inputs_bytes", "inputs_sha256"])
                if replaced:
                    transaction.on_commit(lambda: storage.delete(replaced))
            if Division.objects.filter(gold=split.current_gold).first() != before:
                raise Refused(
                    Code.NOT_READY,
                    "The groups were divided while the gold was checked; upload it again.",
                    heading="The gold was not taken",
                )
            last = split.gold_versions.aggregate(last=Max("number"))["last"] or 0
            gold.number = last + 1
            gold.save(force_insert=True)
            if drawn is not None:
                division = halves_files.store(gold=gold, drawn=drawn, by=by)
            AuditEntry.record("gold.added", gold, by=by, number=gold.number, sha256=gold.sha256, reason=gold.reason)
            if within is not None:
                within(gold)
            rescoring.begin_for(gold=gold, by=by)
    except BaseException:
        if stored:
            gold.split.inputs.storage.delete(stored)
        if division is not None:
            division.file.storage.delete(str(division.file.name))
        raise


def _check_inputs_may_change(split: Split) -> None:
    if not split.is_draft and split.inputs:
        raise Refused(
            Code.INPUTS_CHANGED,
            f"The split {split.name} is published, and this gold would change its inputs. A correction may change "
            "answers only; other items need a split of their own.",
        )
    _check_nobody_answered(split)


def _check_nobody_answered(split: Split) -> None:
    count = Submission.objects.filter(phase__in=rescoring.phases_on(split)).count()
    if count:
        raise Refused(
            Code.INPUTS_CHANGED,
            f"{count} submission{'s' if count != 1 else ''} answered the inputs of {split.name}, and this gold would "
            "change them. A correction may change answers only; other items need a split of their own.",
        )


def _store_inputs(split: Split, content: bytes) -> tuple[str, int, str]:
    """(stored name, bytes, sha256)"""
    field: Any = Split._meta.get_field("inputs")
    name = split.inputs.storage.save(field.generate_filename(split, "inputs.jsonl"), ContentFile(content))
    return name, len(content), hashlib.sha256(content).hexdigest()


def _check_inputs(waiting: Split) -> None:
    """Inputs are no answers, so as predictions they are refused; but the referee reads inputs first, and tells."""
    try:
        with opened(waiting.inputs) as file:
            answer = sandbox_client.validate(
                split=waiting, gold=GoldVersion(expects={}), predictions=file, name="inputs.jsonl", options={}
            )
    except sandbox_client.SandboxError as error:
        log.error("referee_away", error=str(error))
        raise Refused(
            Code.REFEREE_AWAY, "The inputs could not be checked: the server's sandbox does not answer."
        ) from error
    if answer.reason or answer.report.get("fault") == "inputs":
        raise Refused(
            Code.INVALID_GOLD,
            "The inputs do not fit the task's format.",
            answer.report.get("problems", []),
            answer.report.get("more", 0),
        )
