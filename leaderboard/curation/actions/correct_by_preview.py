"""Gold that a generator made is corrected by its raw file: a preview of the mended one, used as a correction.

Ids are salted and draws are seeded, so nobody has the gold file itself to mend. The same generator, parameters, seed
and salt make the same ids of the mended raw file; whether they did is found out by laying the two golds side by side,
as for any correction.
"""

from __future__ import annotations

from typing import Any

from evaluator.curation.generators.catalog import OFFERS, filled
from leaderboard.core.refusal import Code, Refused
from leaderboard.curation.actions import preview_files
from leaderboard.datasets.actions import corrections
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.models import AuditEntry, Correction, GeneratedPart, Generation, Split, State, User


def corrigible(generation: Generation) -> list[tuple[GeneratedPart, Split]]:
    """The parts of a preview that is done, each with the split out of drafts that it may correct.

    Those that the same generator made with the same parameters, salt and, where it draws, seed: by the part's name, or
    where there is but one part.
    """
    if generation.state != State.DONE:
        return []
    mine = list(generation.parts.all())
    found = []
    for earlier in _alike(generation):
        theirs = list(earlier.parts.all())
        for part in mine:
            alone = len(mine) == len(theirs) == 1
            found += [
                (part, other.split)
                for other in theirs
                if other.split and not other.split.is_draft and (alone or other.name == part.name)
            ]
    return sorted(found, key=lambda pair: (pair[0].place, pair[1].name))


def propose(*, generation: Generation, part: GeneratedPart, split: Split, by: User) -> Correction:
    """Make the part again, and lay it beside the split's gold as if it had been uploaded.

    Raises Refused: NOT_AN_ORGANISER; NOT_READY for a part that corrects no such split; and what `parts.made_again` and
    `corrections.propose` refuse.
    """
    check_manages(generation.dataset, by)
    if (part, split) not in corrigible(generation):
        raise Refused(
            Code.NOT_READY,
            f"The part {part.name} corrects no split {split.name}: expected a published split that the same generator "
            "made, with the same parameters and seed.",
        )
    content = preview_files.made_again(generation)[part.name]
    with preview_files.as_upload(content, f"{part.name}-of-preview-{generation.pk}.jsonl") as file:
        made = corrections.propose(split=split, file=file, by=by)
    told = {"generation": generation.pk, "split": split.name, "sha256": part.sha256}
    AuditEntry.record("generation.corrects", generation.dataset, by=by, **told)
    return made


def _alike(generation: Generation) -> list[Generation]:
    """Earlier or later ones that splits were made of, and that differ in nothing but their raw files."""
    offer = OFFERS.get(generation.generator)
    same = {"generator": generation.generator, "salt": generation.salt}
    rows = generation.dataset.generations.filter(parts__split__isnull=False, **same).exclude(pk=generation.pk)
    if offer is None or offer.generator.seeded:
        rows = rows.filter(seed=generation.seed)
    found = rows.distinct().prefetch_related("parts__split__dataset")
    return [one for one in found if _values(one) == _values(generation)]


def _values(generation: Generation) -> dict[str, Any]:
    """What its parameters mean: one that is left out is the same as its default, written out."""
    offer = OFFERS.get(generation.generator)
    return filled(offer, generation.parameters)[0] if offer else generation.parameters
