"""Task fact-verification: label claims as supported, refuted or neither, as in FEVER (Thorne et al. 2018).

Symmetric sets (Schuster et al. 2019) have further measures.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from evaluator.measures.base import statistic
from evaluator.tasks.answers import CategoricalAnswers
from evaluator.tasks.base import DimensionDoc, Facts, Option, Options
from evaluator.tasks.fact_verification import scorer
from evaluator.tasks.fact_verification.audit import AUDIT
from evaluator.tasks.fact_verification.baselines import BASELINES
from evaluator.tasks.fact_verification.gold import Gold
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, GOLD, INPUTS, LABELS, PREDICTIONS
from evaluator.tasks.fact_verification.measures import ACCURACY, FEVER_SCORE, MEASURES
from evaluator.tasks.fact_verification.predictions import Answers
from evaluator.tasks.fact_verification.samples import SAMPLES
from evaluator.tasks.fact_verification.symmetric import check_symmetric
from evaluator.tasks.gold_fields import GoldFields, Line, distinct, present
from evaluator.tasks.item_results import ByMeasure, ItemValue
from evaluator.tasks.items.base import ItemStatistics, ItemTask

_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def _max_evidence(text: str) -> int | None:
    if text == "none":
        return None
    if not _COUNT.fullmatch(text):
        raise ValueError("a whole number from 1, or none")
    return int(text)


class FactVerification(ItemTask[Gold, Answers]):
    name = "fact-verification"
    version = 1
    title = "Fact verification"
    summary = (
        "Judge each claim SUPPORTS, REFUTES or NOT ENOUGH INFO, by evidence that is given or has to be found. "
        "Symmetric sets show if a system reads the evidence or only the claim."
    )
    measures = MEASURES
    ranked_by = ACCURACY.name
    gold_layout, inputs_layout, predictions_layout = GOLD, INPUTS, PREDICTIONS
    gold_type, answers_type = Gold, Answers
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
    gold_only = frozenset({"label", "gold_label", "evidence", "verifiable"})
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
    audit = AUDIT

    def primary(self, facts: Facts | None = None) -> str:
        with_evidence = (facts or {}).get("evidence") not in (None, False, "none")
        return FEVER_SCORE.name if with_evidence else self.ranked_by

    def facts(self, gold: Gold) -> dict[str, Any]:
        with_evidence = sum(sets is not None for sets in gold.evidence)
        share = "none" if not with_evidence else "all" if with_evidence == len(gold.evidence) else "some"
        return {"evidence": share, "origin": gold.declares_origin}

    def statistics(self, gold: Gold, answers: Answers, options: Options) -> ItemStatistics:
        return scorer.statistics(gold, answers, options["max_evidence"])

    def comparable(self, gold: Gold, answers: Answers) -> CategoricalAnswers:
        """Return the predicted label of each claim.

        Evidence is ignored, because somebody who copies a file can reorder it without losing score.
        """
        labels, units = answers.labels, np.arange(len(answers.labels), dtype=np.uint64)
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

    def sample(self, line: Line, facts: Facts) -> Line:
        answer = {"predicted_label": LABELS[0]}
        return answer if facts.get("evidence") == "none" else {**answer, "predicted_evidence": []}

    def gold_fields(self, line: Line) -> GoldFields:
        fields = GoldFields(present(line, "claim", "evidence_text"), {"label": line["label"].upper()})
        if "evidence" in line:
            # An evidence set is identified by its pages and lines alone, and duplicate sets count once.
            sets = [
                sorted({(page, line_number) for *_, page, line_number in evidence_set}, key=repr)
                for evidence_set in line["evidence"]
            ]
            fields.answer["has evidence"] = True
            fields.many["evidence"] = distinct([[list(sentence) for sentence in evidence_set] for evidence_set in sets])
        return fields

    def test_gold_problems(self, lines: Iterable[Line], dimensions: Collection[str]) -> list[str]:
        """Return the faults of gold with the dimension `origin`, which must be a symmetric set; none for other gold."""
        return check_symmetric(lines) if "origin" in dimensions else []


TASK = FactVerification()
