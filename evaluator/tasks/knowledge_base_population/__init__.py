"""Task knowledge-base-population: extract facts of passages, as spans of text and as links to entities.

It is the task of KnowledgeNet (Mesquita et al. 2019).
"""

from typing import Any, BinaryIO

import msgspec

from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.base import statistic
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import Score
from evaluator.tasks.answers import ComparableAnswers, predicted_or_gold
from evaluator.tasks.base import DimensionDoc, Facts, Option, Options, Task
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import ByMeasure, Indices, ItemValue
from evaluator.tasks.knowledge_base_population import gold as gold_file
from evaluator.tasks.knowledge_base_population import predictions
from evaluator.tasks.knowledge_base_population.audit import AUDIT
from evaluator.tasks.knowledge_base_population.baselines import BASELINES
from evaluator.tasks.knowledge_base_population.gold import Gold, ValidationData
from evaluator.tasks.knowledge_base_population.layout import GoldDocument, InputDocument, InputPassage
from evaluator.tasks.knowledge_base_population.measures import MEASURES, SPAN_RATIO
from evaluator.tasks.knowledge_base_population.predictions import Answers
from evaluator.tasks.knowledge_base_population.samples import SAMPLES
from evaluator.tasks.knowledge_base_population.scorer import documents_and_properties, score

_LONG_SPANS = 3.0


def _fold(text: str) -> int | None:
    if text == "all":
        return None
    if text not in {"1", "2", "3", "4", "5"}:
        raise ValueError("1 to 5, or all")
    return int(text)


def _public(line: GoldDocument) -> InputDocument:
    passages = [
        InputPassage(passage.passageId, passage.passageStart, passage.passageEnd, passage.passageText)
        for passage in line.passages
    ]
    return InputDocument(fold=line.fold, documentId=line.documentId, documentText=line.documentText, passages=passages)


class KnowledgeBasePopulation(Task[Gold, ValidationData, Answers]):
    name = "knowledge-base-population"
    version = 1
    title = "Knowledge base population"
    summary = (
        "Find facts in passages: which property, between which subject and object, as spans of text and as links "
        "to entities."
    )
    measures = MEASURES
    ranked_by = "link_f1"
    dimensions = (DimensionDoc("property", "The property of the fact, by name."),)
    own_options = (Option("fold", "Evaluates the documents of one fold (1 to 5), or of all folds.", "all", _fold),)
    gold_format = (
        "One document per line: documentId, documentText, fold (1 to 5; optional unless a fold is selected) and "
        "passages, each with passageId, passageStart, passageEnd, passageText, exhaustivelyAnnotatedProperties "
        "(propertyId, propertyName) and facts (propertyId, subjectStart, subjectEnd, objectStart, objectEnd, "
        "subjectUri, objectUri). Offsets count code points of documentText; spans are half-open; a URI may be empty. "
        "Optional group (default: the document) and slices."
    )
    prediction_format = (
        "Either one passage per line: documentId, passageId and facts; or the gold's layout, one document per line, "
        "with your facts in it. Each fact has propertyId (a string), subjectStart, subjectEnd, objectStart, objectEnd, "
        "subjectUri and objectUri (empty where there is no link). Each passage occurs once; a missing passage counts "
        "as empty."
    )
    prediction_example = (
        '{"documentId": "5", "passageId": "5:457:569", "facts": [{"propertyId": "1", "subjectStart": 457, '
        '"subjectEnd": 483, "objectStart": 516, "objectEnd": 537, "subjectUri": "", '
        '"objectUri": "http://www.wikidata.org/entity/Q1715931"}]}\n'
    )
    id_key = "documentId"
    input_parts = "passages"
    gold_only = frozenset({"facts", "exhaustivelyAnnotatedProperties"})
    item_result = ByMeasure(
        "all facts of the document with links were found, and no others",
        (
            ItemValue("Found", statistic("link_tp")),
            ItemValue("Wrong", statistic("link_fp")),
            ItemValue("Missed", statistic("link_gold") + -1.0 * statistic("link_tp")),
        ),
    )
    samples = SAMPLES
    baselines = BASELINES
    audit = AUDIT

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return gold_file.read_gold(stream, file, options["fold"], limits)

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> ValidationData:
        return gold_file.read_inputs(stream, file, options["fold"], facts.get("properties"), limits)

    def validation_data(self, gold: Gold) -> ValidationData:
        return gold.validation_data()

    def read_predictions(
        self, stream: BinaryIO, file: str, known: ValidationData, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        return predictions.read_predictions(stream, file, known, limits)

    def empty_answers(self, gold: Gold) -> Answers:
        return predictions.empty_answers()

    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers)

    def item_rows(self, gold: Gold, answers: Answers, outcomes: Outcomes) -> Indices:
        documents, _ = documents_and_properties(gold, answers)
        return documents

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        """Return answers whose units are the predicted and the gold facts.

        Two facts are the same only if their passages, properties, spans and URIs are equal.
        """
        predicted = self.read_predictions(stream, file, gold.validation_data(), options).facts
        return predicted_or_gold(predicted.rows(), gold.facts.rows())

    def sample_answer(self, line: Line, facts: Facts) -> Line:
        """Return a document with a made-up fact per passage; subject and object are the passage's first character."""
        property_id = next(iter(facts.get("properties") or ["1"]))
        passages = []
        for passage in line["passages"]:
            start, end = passage["passageStart"], min(passage["passageStart"] + 1, passage["passageEnd"])
            span = {"subjectStart": start, "subjectEnd": end, "objectStart": start, "objectEnd": end}
            fact = {"propertyId": property_id, **span, "subjectUri": "", "objectUri": ""}
            passages.append({"passageId": passage["passageId"], "facts": [fact]})
        return {"documentId": line["documentId"], "passages": passages}

    def facts(self, gold: Gold) -> dict[str, Any]:
        return gold.public_facts()

    def public_inputs(self, gold: Gold) -> bytes:
        return msgspec.json.Encoder().encode_lines([_public(line) for line in gold.lines])

    def score_warnings(self, scores: list[Score]) -> list[str]:
        # Stored with the scores and shown on boards, so its text changes only with the task's version.
        return [
            f"span_ratio is over {_LONG_SPANS:g}: predicted spans are that many times as long as gold's, "
            "so that text overlap says little; compare exact_f1"
            for score in scores
            if score.measure == SPAN_RATIO.name and not score.slice and (score.value or 0.0) > _LONG_SPANS
        ]

    def gold_fields(self, line: Line) -> GoldFields:
        return gold_file.gold_fields(line)


TASK = KnowledgeBasePopulation()
