"""Examples of a benchmark's data.

Only inputs that are public are quoted, and gold only if it is public too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from leaderboard.datasets.web import first_lines
from leaderboard.models import Split

KINDS = (Split.Kind.DEV, Split.Kind.TRAIN, Split.Kind.FOLD, Split.Kind.TEST)
"""Order in which splits with public gold are preferred for examples."""


@dataclass(frozen=True)
class Examples:
    """The first lines of a split.

    pairs: (line of the inputs, what the gold adds to the line), as indented JSON; the second text is empty if the gold
    is hidden.
    """

    split: Split
    pairs: Sequence[tuple[str, str]]


def examples_of(splits: Sequence[Split]) -> Examples | None:
    """Return examples of one of the splits, if possible one with public gold; None if no split has public inputs.

    splits: those of a dataset that the viewer may see.
    """
    public = [split for split in splits if _has_public_inputs(split)]
    golds = {split.pk: split.current_gold for split in public if split.gold_public}
    with_gold = sorted((split for split in public if golds.get(split.pk)), key=lambda split: KINDS.index(split.kind))
    chosen = next(iter([*with_gold, *public]), None)
    if chosen is None:
        return None
    gold = golds.get(chosen.pk)
    return Examples(chosen, _first_pairs(chosen.pk, chosen.inputs_sha256, gold.sha256 if gold else ""))


def _has_public_inputs(split: Split) -> bool:
    return bool(split.inputs) and split.inputs_public


# The result depends on stored files that never change, which their digests identify.
@lru_cache(maxsize=256)
def _first_pairs(split: int, inputs_sha256: str, gold_sha256: str) -> Sequence[tuple[str, str]]:
    row = Split.objects.get(pk=split)
    if not gold_sha256:
        return [(line, "") for line in first_lines.first_inputs(row)]
    return first_lines.first_pairs(row, row.gold_versions.get(sha256=gold_sha256))
