"""Creation of draft splits from the parts of a preview. These drafts are ordinary splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import delete_after_commit
from leaderboard.curation.actions import preview_files
from leaderboard.datasets.actions import splits
from leaderboard.models import AuditEntry, GeneratedPart, Generation, Split, State, User

__all__ = ["DraftRequest", "make"]


@dataclass(frozen=True)
class DraftRequest:
    """A part of a preview, and the settings of the draft split to create from the part."""

    part: GeneratedPart
    name: str
    kind: str
    gold_public: bool
    hide_inputs: bool = False


def make(*, generation: Generation, requests: Sequence[DraftRequest], by: User) -> list[Split]:
    """Create draft splits, each with a part's gold as its first gold version: all of them or none.

    The parts are generated again and must have the same sha256 as in the preview. Raises Refused: NOT_READY for an
    unfinished preview, a part from which a split was already made, or parts that differ from the preview; INVALID_VALUE
    for no requests; NAME_TAKEN; SANDBOX_UNAVAILABLE; and the codes of `splits.create_split` and `splits.add_gold`.
    """
    check_manages_dataset(generation.dataset, by)
    if generation.state != State.DONE:
        raise Refused(Code.NOT_READY, "The preview is not done yet; make draft splits when it is done.")
    if not requests:
        raise Refused(Code.INVALID_VALUE, "No part is chosen; expected at least one.")
    _check_free(generation, requests)
    contents = preview_files.regenerate(generation)
    # Generating takes a while: a concurrent request may have created the same splits.
    _check_free(generation, requests)
    created: list[Split] = []
    try:
        for request in requests:
            created.append(_create(generation, request, contents, by))
    except BaseException:
        for split in created:
            _delete(split, by)
        raise
    return created


def _check_free(generation: Generation, requests: Sequence[DraftRequest]) -> None:
    """Raise Refused ALREADY_EXISTS if a split was already made from a requested part, NAME_TAKEN for a taken name.

    A name is taken if a split of the dataset has it, or if two of `requests` have it. The check also refuses a request
    that was sent twice.
    """
    split_names = dict(generation.parts.exclude(split=None).values_list("pk", "split__name"))
    for request in requests:
        if request.part.pk in split_names:
            raise Refused(
                Code.ALREADY_EXISTS,
                f"The split {split_names[request.part.pk]} was already made from the part {request.part.name}.",
            )
    names = [request.name for request in requests]
    for index, name in enumerate(names):
        splits.check_name_is_free(generation.dataset, name)
        if name.casefold() in {other.casefold() for other in names[:index]}:
            raise Refused(Code.NAME_TAKEN, f"Two draft splits are named {name}; each part needs its own name.")


def _create(generation: Generation, request: DraftRequest, contents: dict[str, bytes], by: User) -> Split:
    split = splits.create_split(
        dataset=generation.dataset,
        name=request.name,
        kind=request.kind,
        gold_public=request.gold_public,
        inputs_public=not request.hide_inputs,
        options=generation.options,
        by=by,
    )
    content = contents[request.part.name]
    try:
        with preview_files.as_upload(content) as file:
            reason = f"Made by the generator {generation.generator}, version {generation.version}."
            splits.add_gold(split=split, file=file, reason=reason, by=by)
        _link(request.part, split, by)
    except BaseException:
        _delete(split, by)
        raise
    return split


@transaction.atomic
def _link(part: GeneratedPart, split: Split, by: User) -> None:
    """Record that the split was created from the part. Raises Refused ALREADY_EXISTS if the part already has a split.

    So only one of two concurrent requests succeeds.
    """
    if not GeneratedPart.objects.filter(pk=part.pk, split=None).update(split=split):
        raise Refused(Code.ALREADY_EXISTS, f"Another request has already made a split from the part {part.name}.")
    details = {"generation": part.generation_id, "split": split.name, "sha256": part.sha256}
    AuditEntry.record("generation.used", part.generation.dataset, by=by, **details)


@transaction.atomic
def _delete(split: Split, by: User) -> None:
    """Delete a draft split that was just created, with its gold, after a failure of `make`.

    A transaction that is rolled back would do the same, but would have to stay open while the sandbox validates gold.
    """
    GeneratedPart.objects.filter(split=split).update(split=None)
    for gold in split.gold_versions.all():
        delete_after_commit(gold.file)
    split.gold_versions.all().delete()
    split.refresh_from_db()
    if split.inputs:
        delete_after_commit(split.inputs)
    AuditEntry.record("split.dropped", split, by=by)
    split.delete()
