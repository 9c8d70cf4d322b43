"""Draft splits out of a preview: from there on they live as any split does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from leaderboard.core.refusal import Code, Refused
from leaderboard.curation.actions import preview_files
from leaderboard.datasets.actions import datasets, splits
from leaderboard.models import AuditEntry, GeneratedPart, Generation, Split, State, User

__all__ = ["Wanted", "make"]


@dataclass(frozen=True)
class Wanted:
    """A part of a preview, and the split that it shall become."""

    part: GeneratedPart
    name: str
    kind: str
    gold_public: bool
    hide_inputs: bool = False


def make(*, generation: Generation, wanted: Sequence[Wanted], by: User) -> list[Split]:
    """Draft splits with the parts' gold as their first version: all that are wanted, or none.

    The parts are made again, and must be what the preview showed. Raises Refused as `splits.create_split` and
    `splits.add_gold` do, NOT_READY for a preview that is not done, a part that is a split already, or parts that come
    out otherwise, and REFEREE_AWAY.
    """
    datasets.check_manages(generation.dataset, by)
    if generation.state != State.DONE:
        raise Refused(Code.NOT_READY, "The preview is not done; draft splits are made of it when it is.")
    if not wanted:
        raise Refused(Code.INVALID_NAME, "No part is chosen; expected one or more.")
    _check_free(generation, wanted)
    contents = preview_files.made_again(generation)
    # Making them takes a while: another request for the same may have come to its end.
    _check_free(generation, wanted)
    made: list[Split] = []
    try:
        for one in wanted:
            made.append(_made(generation, one, contents, by))
    except BaseException:
        for split in made:
            _take_back(split, by)
        raise
    return made


def _check_free(generation: Generation, wanted: Sequence[Wanted]) -> None:
    """Before anything is made: of a request that was sent twice the second is told what the first has made."""
    made = dict(generation.parts.exclude(split=None).values_list("pk", "split__name"))
    for one in wanted:
        if one.part.pk in made:
            raise Refused(Code.NOT_READY, f"The part {one.part.name} is the split {made[one.part.pk]} already.")
    names = [one.name for one in wanted]
    for place, name in enumerate(names):
        splits.check_name_is_free(generation.dataset, name)
        if name.casefold() in {other.casefold() for other in names[:place]}:
            raise Refused(Code.NAME_TAKEN, f"Two parts would become the split {name}; expected different names.")


def _made(generation: Generation, one: Wanted, contents: dict[str, bytes], by: User) -> Split:
    split = splits.create_split(
        dataset=generation.dataset,
        name=one.name,
        kind=one.kind,
        gold_public=one.gold_public,
        inputs_public=not one.hide_inputs,
        options=generation.options,
        by=by,
    )
    content = contents[one.part.name]
    try:
        with preview_files.as_upload(content) as file:
            reason = f"Made by the generator {generation.generator}, version {generation.version}."
            splits.add_gold(split=split, file=file, reason=reason, by=by)
        _tie(one.part, split, by)
    except BaseException:
        _take_back(split, by)
        raise
    return split


@transaction.atomic
def _tie(part: GeneratedPart, split: Split, by: User) -> None:
    """Of two requests that make a split of a part one does."""
    if not GeneratedPart.objects.filter(pk=part.pk, split=None).update(split=split):
        raise Refused(Code.NOT_READY, f"The part {part.name} is a split already.")
    told = {"generation": part.generation_id, "split": split.name, "sha256": part.sha256}
    AuditEntry.record("generation.used", part.generation.dataset, by=by, **told)


@transaction.atomic
def _take_back(split: Split, by: User) -> None:
    """Gold is checked outside any transaction, for it takes a while; so the split is taken back by hand."""
    GeneratedPart.objects.filter(split=split).update(split=None)
    for gold in split.gold_versions.all():
        transaction.on_commit(partial(gold.file.storage.delete, str(gold.file.name)))
    split.gold_versions.all().delete()
    split.refresh_from_db()
    if split.inputs:
        transaction.on_commit(partial(split.inputs.storage.delete, str(split.inputs.name)))
    AuditEntry.record("split.dropped", split, by=by)
    split.delete()
