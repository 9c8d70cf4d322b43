"""Round-robin folds by document, as KnowledgeNet describes them (Mesquita et al. 2019, section 5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evaluator.errors import UsageError, shown
from evaluator.jsonl.ids import Id

FOLDS = 5
MOST_FOLDS = 1000
"""Maximum number of folds. Each fold is a separate file, so a larger number is a typing error."""
PART_NAME = re.compile(r"[\w-]{1,60}")
"""Name of a part, which is also that of its file: at most 255 bytes, with four bytes a letter."""
PARTS = {"train": (1, 2, 3), "dev": (4,), "test": (5,)}
_RANGE = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")


def round_robin(documents: Iterable[Id], folds: int = FOLDS) -> dict[Id, int]:
    """Return the fold of each document: document i goes to fold (i mod folds) + 1.

    Documents are numbered from 0 in order of first appearance. This is for new sets; published folds
    are data and are never reassigned. Raises UsageError for fewer than two folds, or fewer documents than folds.
    """
    if folds < 2:
        raise UsageError(f"the number of folds is {folds}, expected 2 or more")
    distinct = dict.fromkeys(documents)
    if len(distinct) < folds:
        raise UsageError(f"there are {len(distinct)} documents for {folds} folds, expected at least {folds} documents")
    return {document: index % folds + 1 for index, document in enumerate(distinct)}


def parse_parts(text: str, folds: int) -> dict[str, tuple[int, ...]]:
    """Parse a text such as `train=1-3,dev=4,test=5` or `train=1+3,test=2` into name of a part -> its folds.

    folds: the number of folds. Raises UsageError for another form, and unless each fold from 1 to `folds` is in exactly
    one part.
    """
    parts: dict[str, tuple[int, ...]] = {}
    for piece in text.split(","):
        name, equals, numbers = piece.partition("=")
        if not equals or not PART_NAME.fullmatch(name):
            raise UsageError(
                f"part is {shown(piece)}, expected NAME=FOLD or NAME=FIRST-LAST; a name has up to 60 letters, digits, "
                "_ and -"
            )
        if name in parts:
            raise UsageError(f"the part {name} is given twice; each part needs its own name")
        parts[name] = tuple(fold for number in numbers.split("+") for fold in _folds(name, number, folds))
    if sorted(fold for part in parts.values() for fold in part) != list(range(1, folds + 1)):
        raise UsageError(f"parts are {shown(text)}, expected each fold from 1 to {folds} once")
    return parts


def part_of_fold(parts: Mapping[str, tuple[int, ...]]) -> dict[int, str]:
    return {fold: name for name, folds in parts.items() for fold in folds}


def _folds(part: str, text: str, folds: int) -> range:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"the folds of the part {part} are {shown(text)}, expected FOLD or FIRST-LAST, such as 2 or 1-2"
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if not first <= last <= folds:
        raise UsageError(
            f"the folds of the part {part} are {shown(text)}, expected FIRST-LAST, such as 1-2, within 1 to {folds}"
        )
    return range(first, last + 1)
