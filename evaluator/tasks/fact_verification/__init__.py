"""Task fact-verification: label claims as supported, refuted or neither, as in FEVER (Thorne et al. 2018).

Symmetric sets (Schuster et al. 2019) have further measures.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import msgspec
import numpy as np

from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import order_key
from evaluator.measures.base import statistic
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.answers import CategoricalAnswers, ComparableAnswers
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.base import DimensionDoc, Facts, Option, Options, Task
from evaluator.tasks.fact_verification import audit, predictions
from evaluator.tasks.fact_verification import gold as gold_file
from evaluator.tasks.fact_verification.baselines import BASELINES
from evaluator.tasks.fact_verification.gold import Gold, ValidationData
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, LABELS, Question
from evaluator.tasks.fact_verification.measures import ACCURACY, FEVER_SCORE, MEASURES
from evaluator.tasks.fact_verification.predictions import Answers
from evaluator.tasks.fact_verification.samples import SAMPLES
from evaluator.tasks.fact_verification.scorer import score
from evaluator.tasks.fact_verification.symmetric import check_symmetric
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import ByMeasure, ItemValue

_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def _max_evidence(text: str) -> int | None:
    if text == "none":
        return None
    if not _COUNT.fullmatch(text):
        raise ValueError("a whole number from 1, or none")
    return int(text)


class FactVerification(Task[Gold, ValidationData, Answers]):
    name = "fact-verification"
    version = 1
    title = "Fact verification"
    summary = (
        "Judge each claim SUPPORTS, REFUTES or NOT ENOUGH INFO, by evidence that is given or has to be found. "
        "Symmetric sets show if a system reads the evidence or only the claim."
    )
    measures = MEASURES
    dimensions = (DimensionDoc("label", "The claim's gold label."),)
    own_options = (
        Option(
            "max_evidence",
            "The number of predicted evidence sentences that count, from the first; none: all of them.",
            "5",
            _max_evidence,
        ),
    )
    gold_format = (
        "One claim per line: id, claim, label (SUPPORTS, REFUTES, NOT ENOUGH INFO); optional evidence, a list of "
        "sets, each a list of [annotationId, evidenceId, page, line]; optional evidence_text, a sentence as "
        "evidence; optional group and slices. A symmetric set has slices.origin, original or generated."
    )
    prediction_format = (
        f"One answer per line, for every id: id, predicted_label ({EXPECTED_LABEL}, in any case), "
        "and, where the benchmark requires evidence, predicted_evidence: a list of [page, line], best first."
    )
    prediction_example = (
        '{"id": 91198, "predicted_label": "SUPPORTS", "predicted_evidence": [["Colin_Kaepernick", 6]]}\n'
        '{"id": 194462, "predicted_label": "NOT ENOUGH INFO", "predicted_evidence": []}\n'
    )
    gold_only = audit.GOLD_ONLY
    item_statistic = "claim"
    item_result = ByMeasure(
        "the label is correct and, where the gold has evidence, a complete set of it was found",
        (
            ItemValue("Evidence precision", statistic("evidence_precision"), statistic("verifiable")),
            ItemValue("Evidence recall", statistic("evidence_recall"), statistic("verifiable")),
        ),
    )
    label_keys = ("label", "predicted_label")
    samples = SAMPLES
    baselines = BASELINES

    def primary(self, facts: Facts | None = None) -> str:
        with_evidence = (facts or {}).get("evidence") not in (None, False, "none")
        return FEVER_SCORE.name if with_evidence else ACCURACY.name

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return gold_file.read_gold(stream, file, limits)

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> ValidationData:
        return gold_file.read_inputs(stream, file, str(facts.get("evidence", "none")), limits)

    def validation_data(self, gold: Gold) -> ValidationData:
        return gold.validation_data()

    def read_predictions(
        self, stream: BinaryIO, file: str, known: ValidationData, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        return predictions.read_predictions(stream, file, known, limits)

    def hints(self, answers: Answers) -> list[str]:
        return answers.hints

    def empty_answers(self, gold: Gold) -> Answers:
        return predictions.empty_answers(len(gold.claims))

    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers, options["max_evidence"])

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        """Return the predicted label of each claim, to search for near-duplicates.

        Evidence is ignored, because somebody who copies a file can reorder it without losing score.
        """
        labels = self.read_predictions(stream, file, gold.validation_data(), options).labels
        units = np.arange(len(labels), dtype=np.uint64)
        return CategoricalAnswers(units, (labels + 1).astype(np.uint64), labels != np.array(gold.labels, dtype=np.int8))

    def prediction_format_for(self, facts: Facts, dimensions: Mapping[str, Collection[str]]) -> str:
        """Return the format, with evidence only if the gold has evidence.

        All labels are accepted; the text also names those that the gold does not have, by its dimension `label`.
        """
        values = dimensions.get("label", LABELS)
        absent = [label for label in LABELS if label not in values] if set(values) <= set(LABELS) else []
        without = f"; no claim here is {' or '.join(absent)}" if absent else ""
        text = f"One answer per line, for every id: id and predicted_label ({EXPECTED_LABEL}, in any case{without})"
        if facts.get("evidence") == "none":
            return f"{text}."
        claims = "" if facts.get("evidence") == "all" else " for claims that require evidence"
        return f"{text}, and{claims} predicted_evidence: a list of [page, line], best first."

    def sample_answer(self, line: Line, facts: Facts) -> Line:
        answer = {"id": line["id"], "predicted_label": LABELS[0]}
        return answer if facts.get("evidence") == "none" else {**answer, "predicted_evidence": []}

    def facts(self, gold: Gold) -> dict[str, Any]:
        return gold.facts()

    def public_inputs(self, gold: Gold) -> bytes:
        """Return the inputs in the order of a digest of their ids.

        The gold's order could reveal which role a claim has in its group.
        """
        questions = [
            Question(value, claim, msgspec.UNSET if text is None else text)
            for value, claim, text in zip(gold.ids, gold.claims, gold.evidence_texts, strict=True)
        ]
        questions.sort(key=lambda question: order_key(question.id))
        return msgspec.json.Encoder().encode_lines(questions)

    def audit_columns(self, gold: Gold) -> AuditColumns:
        return audit.audit_columns(gold)

    def check_gold(self, split: Split) -> Iterator[Finding]:
        return audit.check_gold(split)

    def test_gold_problems(self, lines: Iterable[Line], dimensions: Collection[str]) -> list[str]:
        """Return the faults of gold with the dimension `origin`, which must be a symmetric set; none for other gold."""
        return check_symmetric(lines) if "origin" in dimensions else []

    def gold_fields(self, line: Line) -> GoldFields:
        return audit.gold_fields(line)


TASK = FactVerification()
