"""Parser of the gold of metric-correlation."""

from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from evaluator.errors import GoldError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.metric_correlation.layout import GOLD, Text
from evaluator.tasks.scored_items.files import IdIndex


@dataclass
class Gold:
    """Parsed gold. The lists have one entry per rated text, in the order of the file.

    ids: id -> index of the text. systems: the system that generated the text; None: the line names none.
    """

    ids: IdIndex
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    ratings: list[float] = field(default_factory=list)
    systems: list[str | int | None] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)

    @property
    def names_systems(self) -> bool:
        """True if every line names a system."""
        return None not in self.systems


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Parse gold. Raises GoldError for invalid gold.

    file: the file's name in messages. limits: limits on its size; None: the default ones.
    """
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    for line in register.added(reader.blocks(stream)):
        gold.texts.append(Text(line.id, line.generated, line.reference))
        gold.ratings.append(line.human)
        gold.systems.append(None if line.system is msgspec.UNSET else line.system)
        gold.groups.append(line.id if line.group is msgspec.UNSET else line.group)
        gold.slices.append(None if line.slices is msgspec.UNSET else line.slices)
    reader.problems.raise_if_any()
    gold.n_lines = reader.n_lines
    gold.warnings = reader.warnings
    unnamed = gold.systems.count(None)
    if 0 < unnamed < len(gold.systems):
        gold.warnings.append(f"{file}: {unnamed} lines name no system, so there are no partial correlations")
    if len(set(gold.ratings)) == 1:
        gold.warnings.append(f"{file}: all texts have the same rating, so no measure has a value")
    return gold
