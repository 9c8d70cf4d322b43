"""Line formats of fact-extraction files (Goodrich et al. 2019)."""

import msgspec

from evaluator.jsonl.ids import GoldLine, count_gold_keys
from evaluator.jsonl.reader import Format
from evaluator.jsonl.strict_json import Schema

Fact = tuple[str, str, str]
"""Subject, relation, object."""


class GoldText(GoldLine, gc=False, kw_only=True):
    """A gold line: a text and the facts that it states. subject: the entity that the text is about.

    The public inputs have copies of text and subject.
    """

    id: str | int
    facts: list[Fact]
    text: str | msgspec.UnsetType = msgspec.UNSET
    subject: str | msgspec.UnsetType = msgspec.UNSET


class InputText(msgspec.Struct, gc=False):
    """A line of the public inputs: a text to extract facts from. subject: the entity that the text is about."""

    id: str | int
    text: str | msgspec.UnsetType = msgspec.UNSET
    subject: str | msgspec.UnsetType = msgspec.UNSET


class PredictedFacts(msgspec.Struct, gc=False):
    """A line of predictions: the facts that a system extracted from one text."""

    id: str | int
    facts: list[Fact]


def _optional_keys(line: GoldText | InputText) -> int:
    return (line.text is not msgspec.UNSET) + (line.subject is not msgspec.UNSET)


GOLD = Format(
    GoldText,
    Schema(
        frozenset({"id", "facts", "text", "subject", "group", "slices"}),
        {"slices": Schema(frozenset(), free=True)},
    ),
    lambda line: 2 + _optional_keys(line) + count_gold_keys(line),
)
INPUTS = Format(InputText, Schema(frozenset({"id", "text", "subject"})), lambda line: 1 + _optional_keys(line))
PREDICTIONS = Format(PredictedFacts, Schema(frozenset({"id", "facts"})), lambda _: 2)
