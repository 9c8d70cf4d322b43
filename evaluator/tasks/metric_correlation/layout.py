"""Files of metric-correlation (Goodrich et al. 2019, section 8): the formats of their lines, and parsed gold."""

from dataclasses import dataclass, field

import msgspec

from evaluator.jsonl.ids import GoldLine
from evaluator.tasks.items.files import ItemGold, format_of


class RatedText(GoldLine, gc=False, kw_only=True):
    """A gold line: a generated text, its reference and its mean human rating.

    human: the rating; system: the system that generated the text.
    """

    id: str | int
    human: float
    system: str | int | msgspec.UnsetType = msgspec.UNSET
    generated: str | msgspec.UnsetType = msgspec.UNSET
    reference: str | msgspec.UnsetType = msgspec.UNSET


class Text(msgspec.Struct, gc=False):
    """A line of the public inputs: a generated text to score, and its reference."""

    id: str | int
    generated: str | msgspec.UnsetType = msgspec.UNSET
    reference: str | msgspec.UnsetType = msgspec.UNSET


GOLD = format_of(RatedText)
INPUTS = format_of(Text)


@dataclass
class Gold(ItemGold):
    lines: list[RatedText] = field(default_factory=list)

    @property
    def ratings(self) -> list[float]:
        return [line.human for line in self.lines]

    @property
    def systems(self) -> list[str | int | None]:
        """The system that generated each text; None: the line names none."""
        return [None if line.system is msgspec.UNSET else line.system for line in self.lines]

    def finish(self, file: str) -> list[str]:
        """Return warnings if only some lines name a system, and if all ratings are equal."""
        remarks = []
        unnamed = self.systems.count(None)
        if 0 < unnamed < len(self.lines):
            remarks.append(f"{file}: {unnamed} lines name no system, so there are no partial correlations")
        if len(set(self.ratings)) == 1:
            remarks.append(f"{file}: all texts have the same rating, so no measure has a value")
        return remarks
