"""Line formats of fact-extraction files (Goodrich et al. 2019)."""

import msgspec

from evaluator.jsonl.ids import GoldLine
from evaluator.tasks.items.files import format_of

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


GOLD, INPUTS, PREDICTIONS = format_of(GoldText), format_of(InputText), format_of(PredictedFacts)
