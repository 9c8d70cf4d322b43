"""Correction of generated gold through its raw file: a preview made from a corrected raw file is proposed as new gold.

Generated ids are salted and sampling is seeded, so nobody has the gold file itself to edit. With the same generator,
parameters, seed and salt, the corrected raw file gives the same ids; the usual comparison of the two gold versions
verifies that. Corrections in general, by an uploaded file, are in `leaderboard.datasets.actions.corrections`.
"""

from __future__ import annotations

from typing import Any

from evaluator.curation.generators.catalog import OFFERS, parse_form
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.curation.actions import preview_files
from leaderboard.datasets.actions import corrections
from leaderboard.models import AuditEntry, Correction, GeneratedPart, Generation, Split, State, User


def correctable_splits(generation: Generation) -> list[tuple[GeneratedPart, Split]]:
    """Return (part, split) for each part of a preview and each non-draft split that the part may correct.

    The split was made from another preview of the dataset, by the same generator with the same parameters, salt and, if
    the generator samples, seed; and from a part of the same name, unless both previews have a single part. Empty if the
    preview is not done.
    """
    if generation.state != State.DONE:
        return []
    parts = list(generation.parts.all())
    pairs = []
    for earlier in _comparable_previews(generation):
        earlier_parts = list(earlier.parts.all())
        for part in parts:
            are_single = len(parts) == len(earlier_parts) == 1
            pairs += [
                (part, other.split)
                for other in earlier_parts
                if other.split and not other.split.is_draft and (are_single or other.name == part.name)
            ]
    return sorted(pairs, key=lambda pair: (pair[0].index, pair[1].name))


def propose(*, generation: Generation, part: GeneratedPart, split: Split, by: User) -> Correction:
    """Generate a part of a preview again and propose it as a correction of the split's gold, like an uploaded file.

    Raises Refused: NOT_AN_ORGANISER; NOT_READY if the part cannot correct this split; and the codes of
    `preview_files.regenerate` and `corrections.propose`.
    """
    check_manages_dataset(generation.dataset, by)
    if (part, split) not in correctable_splits(generation):
        raise Refused(
            Code.NOT_POSSIBLE,
            f"The part {part.name} cannot correct the split {split.name}: expected a published split that was made "
            f"from the part {part.name} of an earlier preview of this dataset, with the same generator, parameters, "
            "salt and seed as this preview.",
        )
    content = preview_files.regenerate(generation)[part.name]
    with preview_files.as_upload(content, f"{part.name}-of-preview-{generation.pk}.jsonl") as file:
        correction = corrections.propose(split=split, file=file, by=by)
    details = {"generation": generation.pk, "split": split.name, "sha256": part.sha256}
    AuditEntry.record("generation.corrects", generation.dataset, by=by, **details)
    return correction


def _comparable_previews(generation: Generation) -> list[Generation]:
    """Return the dataset's other previews from which splits were made and which differ from this one in raw files only.

    The seed may differ too if the generator does not sample.
    """
    offer = OFFERS.get(generation.generator)
    same = {"generator": generation.generator, "salt": generation.salt}
    rows = generation.dataset.generations.filter(parts__split__isnull=False, **same).exclude(pk=generation.pk)
    if offer is None or offer.generator.seeded:
        rows = rows.filter(seed=generation.seed)
    candidates = rows.distinct().prefetch_related("parts__split__dataset")
    return [candidate for candidate in candidates if _values(candidate) == _values(generation)]


def _values(generation: Generation) -> dict[str, Any]:
    """Return the values of a preview's parameters by the parameters' names, with defaults filled in.

    They are parsed, or the stored texts if the generator is no longer installed.
    """
    offer = OFFERS.get(generation.generator)
    return parse_form(offer, generation.parameters)[0] if offer else generation.parameters
