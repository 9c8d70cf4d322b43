"""Parser of knowledge-base-population predictions: each line is a whole document or one passage."""

from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from evaluator.errors import PredictionError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, format_ids, unknown_id
from evaluator.jsonl.reader import Reader
from evaluator.tasks.knowledge_base_population.facts import FactCollector, FactTable
from evaluator.tasks.knowledge_base_population.gold import KnownDocument, ValidationData
from evaluator.tasks.knowledge_base_population.hints import OffsetChecks, is_within, link_hints
from evaluator.tasks.knowledge_base_population.layout import PREDICTIONS, Fact, PredictionLine


@dataclass
class Answers:
    """Parsed predictions of knowledge-base-population. facts: the predicted facts of the evaluated documents."""

    facts: FactTable
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def empty_answers() -> Answers:
    return Answers(FactCollector().table())


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Parse predictions. Raises PredictionError for invalid predictions.

    file: the file's name in messages. limits: limits on its size; None: the default ones. A passage that is missing in
    the file counts as one without facts, with a warning.
    """
    return _PredictionFile(file, known, limits).read(stream)


class _PredictionFile:
    def __init__(self, file: str, known: ValidationData, limits: ReadLimits | None) -> None:
        self.reader = Reader(file, PREDICTIONS, PredictionError, limits)
        self.problems = self.reader.problems
        self.known = known
        # If the properties of the gold are not known, every property is accepted.
        self.properties = {} if known.properties is None else known.properties
        self.facts = FactCollector()
        self.passage_lines: dict[int, int] = {}  # index of a passage: its line number
        self.document_lines: dict[Id, int] = {}  # id of a document that is on one line: its line number
        self.odd_facts = 0
        self.first_odd_line = 0
        self.offsets = OffsetChecks(file)

    def read(self, stream: BinaryIO) -> Answers:
        for number, line in self.reader.records(stream):
            document = self.known.documents.get(line.documentId)
            if document is None:
                self.problems.add(number, *unknown_id("documentId", line.documentId, self.known.documents))
            elif line.passages is not msgspec.UNSET:
                self._whole_document(line, document, number)
            elif line.passageId is msgspec.UNSET or line.facts is msgspec.UNSET:
                absent = "passageId" if line.passageId is msgspec.UNSET else "facts"
                self.problems.add(
                    number, f"{absent} is missing", "no such key", "passageId and facts, or the document's passages"
                )
            else:
                self._passage(document, line.passageId, line.facts, number)
        self.problems.raise_if_any()
        facts = self.facts.table()
        hints = [*self.offsets.hints(), *link_hints(facts, list(self.properties), self.problems.file)]
        return Answers(facts, self.reader.n_lines, [*self.reader.warnings, *self._remarks()], hints)

    def _whole_document(self, line: PredictionLine, document: KnownDocument, number: int) -> None:
        if line.passageId is not msgspec.UNSET or line.facts is not msgspec.UNSET:
            self.problems.add(
                number, "two layouts on a line", "passages together with passageId or facts", "one of the two"
            )
            return
        if line.documentId in self.document_lines:
            first_line = self.document_lines[line.documentId]
            self.problems.add(
                number, "duplicate documentId", f"{shown(line.documentId)} (first on line {first_line})", "each id once"
            )
            return
        self.document_lines[line.documentId] = number
        assert line.passages is not msgspec.UNSET
        for passage in line.passages:
            self._passage(document, passage.passageId, passage.facts, number)

    def _passage(self, document: KnownDocument, passage_id: str, facts: list[Fact], number: int) -> None:
        index = document.passages.get(passage_id)
        if index is None:
            self.problems.add(number, "unknown passageId", shown(passage_id), "a passage of this document")
            return
        if index in self.passage_lines:
            first_line = self.passage_lines[index]
            self.problems.add(
                number, "duplicate passageId", f"{shown(passage_id)} (first on line {first_line})", "each id once"
            )
            return
        self.passage_lines[index] = number
        for fact in facts:
            self._fact(document, passage_id, fact, number)

    def _fact(self, document: KnownDocument, passage_id: str, fact: Fact, number: int) -> None:
        property_index = self.properties.get(fact.propertyId)
        if property_index is None:
            if self.known.properties is not None:
                self.problems.add(number, "unknown propertyId", shown(fact.propertyId), "a property of this benchmark")
                return
            property_index = self.properties[fact.propertyId] = len(self.properties)
        if is_within(fact, 0, len(document.text)):
            self.offsets.add(fact, document.bounds[passage_id], document.text, number)
        else:
            self.odd_facts += 1
            self.first_odd_line = self.first_odd_line or number
        if document.evaluated:
            self.facts.add(document.passages[passage_id], property_index, fact)

    def _remarks(self) -> list[str]:
        remarks = []
        if self.odd_facts:
            remarks.append(
                f"{self.problems.file}: {self.odd_facts} facts have offsets that are inverted or outside the text "
                f"(first on line {self.first_odd_line}); they were compared unchanged"
            )
        remarks += self.offsets.warnings()
        missing = [
            passage_id
            for document in self.known.documents.values()
            if document.evaluated
            for passage_id, index in document.passages.items()
            if index not in self.passage_lines
        ]
        if missing:
            remarks.append(
                f"{self.problems.file}: {len(missing)} passages are missing and count as empty: {format_ids(missing)}"
            )
        return remarks
