"""Parser of the gold of fact-checking."""

from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from evaluator.errors import GoldError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.fact_checking.layout import GOLD, Claim
from evaluator.tasks.scored_items.files import IdIndex


@dataclass
class Gold:
    """Parsed gold. ids: id -> index of the claim.

    `claims`, `labels`, `groups` and `slices` have one entry per claim, in the order of the file.
    """

    ids: IdIndex
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Parse gold. Raises GoldError for invalid gold.

    file: the file's name in messages. limits: limits on its size; None: the default ones. If all labels are equal,
    there is a warning, since no measure then has a value.
    """
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    relations: dict[str, str] = {}  # one string object for each of the few relations
    for line in register.added(reader.blocks(stream)):
        relation = relations.setdefault(line.relation, line.relation)
        gold.claims.append(Claim(line.id, line.subject, relation, line.object))
        gold.labels.append(line.label)
        gold.groups.append(line.id if line.group is msgspec.UNSET else line.group)
        gold.slices.append(None if line.slices is msgspec.UNSET else line.slices)
    reader.problems.raise_if_any()
    gold.n_lines = reader.n_lines
    gold.warnings = reader.warnings
    if len(set(gold.labels)) == 1:
        gold.warnings.append(f"{file}: all claims have the same label, so no measure has a value")
    return gold
