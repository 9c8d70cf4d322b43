"""Line formats of knowledge-base-population files (Mesquita et al. 2019)."""

import msgspec

from evaluator.jsonl.ids import GoldLine, count_gold_keys
from evaluator.jsonl.reader import Format
from evaluator.jsonl.strict_json import Schema

DATE_PROPERTIES = frozenset({"5", "14", "15"})
"""DATE_FOUNDED, DATE_OF_DEATH, DATE_OF_BIRTH: their objects have no page to link to."""


class Fact(msgspec.Struct, gc=False):
    """A fact with the spans of text that name its subject and object, and the links of both.

    Offsets count code points of the document's text; spans are half-open.
    """

    propertyId: str
    subjectStart: int
    subjectEnd: int
    objectStart: int
    objectEnd: int
    subjectUri: str
    objectUri: str


# Published gold has more keys than the scorer needs. They are decoded nevertheless: if all keys of a line are decoded,
# counting them proves that it has no unknown key (jsonl/reader.py), and the line needs no second, slower pass.
Unused = str | int | float | bool | None | msgspec.UnsetType


class GoldFact(Fact, gc=False):
    factId: Unused = msgspec.UNSET
    humanReadable: Unused = msgspec.UNSET
    subjectText: Unused = msgspec.UNSET
    objectText: Unused = msgspec.UNSET

    def count_keys(self) -> int:
        unused = (self.factId, self.humanReadable, self.subjectText, self.objectText)
        return 11 - unused.count(msgspec.UNSET)


class AnnotatedProperty(msgspec.Struct, gc=False):
    propertyId: str
    propertyName: str
    propertyDescription: Unused = msgspec.UNSET

    def count_keys(self) -> int:
        return 2 + (self.propertyDescription is not msgspec.UNSET)


class GoldPassage(msgspec.Struct, gc=False):
    passageId: str
    passageStart: int
    passageEnd: int
    passageText: str
    exhaustivelyAnnotatedProperties: list[AnnotatedProperty]
    facts: list[GoldFact]


class GoldDocument(GoldLine, gc=False, kw_only=True):
    documentId: str | int
    documentText: str
    passages: list[GoldPassage]
    fold: int | msgspec.UnsetType = msgspec.UNSET
    source: Unused = msgspec.UNSET


class InputPassage(msgspec.Struct, gc=False):
    passageId: str
    passageStart: int
    passageEnd: int
    passageText: str


class InputDocument(msgspec.Struct, gc=False, kw_only=True):
    """A line of the public inputs: a document with its passages, without facts."""

    fold: int | msgspec.UnsetType = msgspec.UNSET
    documentId: str | int
    documentText: str
    passages: list[InputPassage]


class PredictedPassage(msgspec.Struct, gc=False):
    passageId: str
    facts: list[Fact]


class PredictionLine(msgspec.Struct, gc=False, kw_only=True):
    """A line of predictions, in one of two layouts: a document with its passages, or one passage."""

    documentId: str | int
    passageId: str | msgspec.UnsetType = msgspec.UNSET
    facts: list[Fact] | msgspec.UnsetType = msgspec.UNSET
    passages: list[PredictedPassage] | msgspec.UnsetType = msgspec.UNSET


# Keys of published files that are not decoded. They are listed so that they are ignored without a warning.
_FACT_NAMES = frozenset({*GoldFact.__struct_fields__, "is_current", "start_time", "end_time"})
_PASSAGE_NAMES = frozenset(GoldPassage.__struct_fields__)
_DOCUMENT_NAMES = frozenset({"fold", "source", "documentId", "documentText", "passages"})
_PASSAGES = Schema(
    _PASSAGE_NAMES,
    {
        "facts": Schema(_FACT_NAMES),
        "exhaustivelyAnnotatedProperties": Schema(frozenset({"propertyId", "propertyName", "propertyDescription"})),
    },
)


def _gold_keys(line: GoldDocument) -> int:
    count = 3 + (line.fold is not msgspec.UNSET) + (line.source is not msgspec.UNSET) + count_gold_keys(line)
    for passage in line.passages:
        count += 6 + sum(fact.count_keys() for fact in passage.facts)
        count += sum(prop.count_keys() for prop in passage.exhaustivelyAnnotatedProperties)
    return count


def _input_keys(line: InputDocument) -> int:
    return 3 + (line.fold is not msgspec.UNSET) + 4 * len(line.passages)


def _prediction_keys(line: PredictionLine) -> int:
    count = 1 + (line.passageId is not msgspec.UNSET)
    if line.facts is not msgspec.UNSET:
        count += 1 + 7 * len(line.facts)
    if line.passages is not msgspec.UNSET:
        count += 1 + sum(2 + 7 * len(passage.facts) for passage in line.passages)
    return count


GOLD = Format(
    GoldDocument,
    Schema(_DOCUMENT_NAMES | {"group", "slices"}, {"passages": _PASSAGES, "slices": Schema(frozenset(), free=True)}),
    _gold_keys,
)
INPUTS = Format(InputDocument, Schema(_DOCUMENT_NAMES, {"passages": _PASSAGES}), _input_keys)
PREDICTIONS = Format(
    PredictionLine,
    Schema(_DOCUMENT_NAMES | {"passageId", "facts"}, {"passages": _PASSAGES, "facts": Schema(_FACT_NAMES)}),
    _prediction_keys,
)
