"""Line formats of metric-correlation files (Goodrich et al. 2019, section 8)."""

import msgspec

from evaluator.jsonl.ids import GoldLine, count_gold_keys
from evaluator.jsonl.reader import Format
from evaluator.jsonl.strict_json import Schema


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


def _named(*optional: object) -> int:
    return sum(value is not msgspec.UNSET for value in optional)


GOLD = Format(
    RatedText,
    Schema(
        frozenset({"id", "human", "system", "generated", "reference", "group", "slices"}),
        {"slices": Schema(frozenset(), free=True)},
    ),
    lambda line: 2 + _named(line.system, line.generated, line.reference) + count_gold_keys(line),
)
INPUTS = Format(
    Text, Schema(frozenset({"id", "generated", "reference"})), lambda line: 1 + _named(line.generated, line.reference)
)
