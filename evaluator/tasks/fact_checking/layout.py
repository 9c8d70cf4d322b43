"""Files of fact-checking (Huynh & Papotti 2019): the formats of their lines, and parsed gold."""

from dataclasses import dataclass, field

import msgspec

from evaluator.jsonl.ids import GoldLine
from evaluator.tasks.items.files import ItemGold, format_of


class GoldClaim(GoldLine, gc=False, kw_only=True):
    """A gold line: a triple and its label, which is True if the triple is true."""

    id: str | int
    subject: str
    relation: str
    object: str
    label: bool


class Claim(msgspec.Struct, gc=False):
    """A line of the public inputs: a triple whose truth systems score."""

    id: str | int
    subject: str
    relation: str
    object: str


GOLD = format_of(GoldClaim)
INPUTS = format_of(Claim)


@dataclass
class Gold(ItemGold):
    lines: list[GoldClaim] = field(default_factory=list)

    @property
    def labels(self) -> list[bool]:
        return [claim.label for claim in self.lines]

    def finish(self, file: str) -> list[str]:
        """Return a warning if all labels are equal."""
        equal = len(set(self.labels)) == 1
        return [f"{file}: all claims have the same label, so no measure has a value"] if equal else []
