"""Parser of the gold and the public inputs of knowledge-base-population."""

from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import GoldError, InputsError, ProblemList, UsageError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.gold_fields import GoldFields, Line, distinct, present
from evaluator.tasks.knowledge_base_population.facts import FactCollector, FactTable
from evaluator.tasks.knowledge_base_population.layout import GOLD, INPUTS, GoldDocument, GoldPassage, InputDocument

FOLDS = range(1, 6)
_FACT = ("propertyId", "subjectStart", "subjectEnd", "objectStart", "objectEnd", "subjectUri", "objectUri")
_PROPERTY = ("propertyId", "propertyName")
_PASSAGE = ("passageId", "passageStart", "passageEnd", "passageText")


@dataclass(frozen=True)
class KnownDocument:
    """The data of a document against which its predictions are validated.

    passages: passage id -> index among all passages of the file. bounds: passage id -> (its start, its end), as offsets
    in the document's text. evaluated: True if the document is scored, because its fold was chosen or all folds are
    scored.
    """

    passages: dict[str, int]
    bounds: dict[str, tuple[int, int]]
    text: str
    evaluated: bool


@dataclass(frozen=True)
class ValidationData:
    """The data that predictions are checked against.

    properties: property id -> its index; None: the properties are not known, and predictions may name any.
    """

    documents: dict[Id, KnownDocument]
    properties: dict[str, int] | None


@dataclass
class Gold:
    """Parsed gold: all documents and passages of the file, but only the facts of the evaluated documents.

    fold: the fold that is evaluated; None: all. documents, evaluated, groups, slices, lines: one entry per document.
    passage_document: the index of the document of each passage. properties: property id -> its index. names: property
    id -> its name. annotated_pairs: (index of a passage, index of a property that is exhaustively annotated in it).
    """

    fold: int | None
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    documents: dict[Id, KnownDocument] = field(default_factory=dict)
    evaluated: list[bool] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)
    passage_document: list[int] = field(default_factory=list)
    properties: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    annotated_pairs: list[tuple[int, int]] = field(default_factory=list)
    facts: FactTable = field(default_factory=lambda: FactCollector().table())
    lines: list[GoldDocument] = field(default_factory=list)

    @property
    def property_ids(self) -> list[str]:
        return list(self.properties)

    @property
    def property_names(self) -> list[str]:
        """The names of the properties, in the order of their indices.

        A property that no passage names has its id as name.
        """
        return [self.names.get(identifier, identifier) for identifier in self.properties]

    def annotated(self) -> npt.NDArray[np.bool_]:
        """Return an array passages x properties: True if all facts of the property are annotated in the passage."""
        marks = np.zeros((len(self.passage_document), max(len(self.properties), 1)), dtype=np.bool_)
        if self.annotated_pairs:
            passages, properties = np.array(self.annotated_pairs).T
            marks[passages, properties] = True
        return marks

    def validation_data(self) -> ValidationData:
        return ValidationData(self.documents, self.properties)

    def public_facts(self) -> dict[str, Any]:
        return {"properties": self.property_ids}


def read_gold(stream: BinaryIO, file: str, fold: int | None, limits: ReadLimits | None) -> Gold:
    """Parse gold.

    file: the file's name in messages. fold: the fold (of the dataset's five) that is scored; None: all. limits: limits
    on the file's size; None: the default ones. Raises GoldError if the gold is invalid, UsageError if no document is in
    the fold.
    """
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems, "documentId")
    gold = Gold(fold)
    facts = FactCollector()
    for number, line in reader.records(stream):
        if register.add(line.documentId, number) and _usable(line, number, fold, gold, reader.problems):
            _add(line, gold, facts)
    _check_names(gold, reader.problems)
    reader.problems.raise_if_any()
    if not any(gold.evaluated):
        raise UsageError(f"fold is {fold}, but the gold has no document in this fold; expected another fold, or all")
    gold.n_lines, gold.warnings, gold.facts = reader.n_lines, reader.warnings, facts.table()
    return gold


def _usable(line: GoldDocument, number: int, fold: int | None, gold: Gold, problems: ProblemList) -> bool:
    is_usable = True
    if line.fold is msgspec.UNSET:
        if fold is not None:
            problems.add(number, "fold is missing", "no such key", "1 to 5, because one fold is evaluated")
            is_usable = False
    elif line.fold not in FOLDS:
        problems.add(number, "unknown fold", f"fold {shown(line.fold)}", "1 to 5")
        is_usable = False
    if line.slices is not msgspec.UNSET and "property" in line.slices:
        problems.add(
            number,
            'slices names the dimension "property"',
            "a name that the task itself uses",
            "another name",
        )
        is_usable = False
    seen: set[str] = set()
    for passage in line.passages:
        if passage.passageId in seen:
            problems.add(number, "duplicate passageId", shown(passage.passageId), "different ids in a document")
            is_usable = False
        seen.add(passage.passageId)
        for prop in passage.exhaustivelyAnnotatedProperties:
            if gold.names.setdefault(prop.propertyId, prop.propertyName) != prop.propertyName:
                problems.add(
                    number,
                    f"the propertyId {shown(prop.propertyId)} has two names",
                    "another propertyName than earlier",
                    "one propertyName for each propertyId",
                )
                is_usable = False
    return is_usable


def _add(line: GoldDocument, gold: Gold, facts: FactCollector) -> None:
    evaluated = gold.fold is None or line.fold == gold.fold
    document = len(gold.documents)
    passages: dict[str, int] = {}
    for passage in line.passages:
        index = passages[passage.passageId] = len(gold.passage_document)
        gold.passage_document.append(document)
        _add_passage(passage, index, evaluated, gold, facts)
    gold.documents[line.documentId] = KnownDocument(passages, _bounds(line), line.documentText, evaluated)
    gold.evaluated.append(evaluated)
    gold.lines.append(line)
    gold.groups.append(line.documentId if line.group is msgspec.UNSET else line.group)
    gold.slices.append(None if line.slices is msgspec.UNSET else line.slices)


def _add_passage(passage: GoldPassage, passage_index: int, evaluated: bool, gold: Gold, facts: FactCollector) -> None:
    properties = gold.properties
    for prop in passage.exhaustivelyAnnotatedProperties:
        gold.annotated_pairs.append((passage_index, properties.setdefault(prop.propertyId, len(properties))))
    for fact in passage.facts:
        property_index = properties.setdefault(fact.propertyId, len(properties))
        if evaluated:
            facts.add(passage_index, property_index, fact)


def _bounds(line: GoldDocument | InputDocument) -> dict[str, tuple[int, int]]:
    return {passage.passageId: (passage.passageStart, passage.passageEnd) for passage in line.passages}


def _check_names(gold: Gold, problems: ProblemList) -> None:
    owner: dict[str, str] = {}
    for identifier, name in zip(gold.properties, gold.property_names, strict=True):
        other = owner.setdefault(name, identifier)
        if other != identifier:
            problems.add(
                None,
                "two properties have one name",
                f"ids {shown(other)} and {shown(identifier)}",
                "a different name for each id",
            )


def read_inputs(
    stream: BinaryIO, file: str, fold: int | None, properties: list[str] | None, limits: ReadLimits | None
) -> ValidationData:
    """Parse public inputs. Raises InputsError for invalid inputs.

    file: the file's name in messages. fold: the fold (of the dataset's five) that is scored; None: all. A document
    without a fold counts as scored. properties: the property ids of the gold; None: they are not known, and predictions
    may name any. limits: limits on the file's size; None: the default ones.
    """
    reader = Reader(file, INPUTS, InputsError, limits)
    register = IdRegister(reader.problems, "documentId")
    documents: dict[Id, KnownDocument] = {}
    n_passages = 0
    for number, line in reader.records(stream):
        if not register.add(line.documentId, number):
            continue
        passages: dict[str, int] = {}
        for passage in line.passages:
            if passage.passageId in passages:
                reader.problems.add(
                    number, "duplicate passageId", shown(passage.passageId), "different ids in a document"
                )
            passages[passage.passageId] = n_passages
            n_passages += 1
        evaluated = fold is None or line.fold in (fold, msgspec.UNSET)
        documents[line.documentId] = KnownDocument(passages, _bounds(line), line.documentText, evaluated)
    reader.problems.raise_if_any()
    indices = None if properties is None else {identifier: index for index, identifier in enumerate(properties)}
    return ValidationData(documents, indices)


def gold_fields(line: Line) -> GoldFields:
    passages = line["passages"]
    question = present(line, "documentText", "fold")
    question["passages"] = [present(passage, *_PASSAGE) for passage in passages]

    def inside(name: str, fields: tuple[str, ...]) -> list[Any]:
        return [
            {"passageId": passage["passageId"], **present(item, *fields)}
            for passage in passages
            for item in passage[name]
        ]

    annotated = inside("exhaustivelyAnnotatedProperties", _PROPERTY)
    # Equal facts count separately, so a repetition is kept; a property is annotated or not, so a repetition is dropped.
    return GoldFields(question, many={"facts": inside("facts", _FACT), "annotated": distinct(annotated)})
