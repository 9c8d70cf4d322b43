"""Task link-prediction: rank mentions for the missing subject or object of a triple, as in OLPBENCH (Broscheit et al.
2020).
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import order_key
from evaluator.measures.base import statistic
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.answers import ComparableAnswers
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.base import DimensionDoc, Facts, Option, Options, Task
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import ByMeasure, ItemValue
from evaluator.tasks.link_prediction import audit, predictions
from evaluator.tasks.link_prediction import gold as gold_file
from evaluator.tasks.link_prediction.answers import first_ranked
from evaluator.tasks.link_prediction.baselines import BASELINES
from evaluator.tasks.link_prediction.gold import Gold, ValidationData
from evaluator.tasks.link_prediction.layout import QUERY_MARKER, Question
from evaluator.tasks.link_prediction.measures import MEASURES, MRR
from evaluator.tasks.link_prediction.predictions import Answers
from evaluator.tasks.link_prediction.samples import SAMPLES
from evaluator.tasks.link_prediction.scorer import score


def _is_filtered(text: str) -> bool:
    if text not in {"filtered", "raw"}:
        raise ValueError("filtered or raw")
    return text == "filtered"


class LinkPrediction(Task[Gold, ValidationData, Answers]):
    name = "link-prediction"
    version = 1
    title = "Link prediction"
    summary = (
        "Complete triples: rank mentions for the missing subject or object. Every mention of the right entity is an "
        "answer, and other known answers do not count against a ranking."
    )
    measures = MEASURES
    dimensions = (DimensionDoc("side", "The missing part of the triple: head (the subject) or tail (the object)."),)
    own_options = (
        Option(
            "setting",
            "filtered: other known answers are removed from a ranking; raw: they stay in it.",
            "filtered",
            _is_filtered,
        ),
    )
    gold_format = (
        'One question per line: id, question (["subject", "relation", "?"] or ["?", "relation", "object"]), answers '
        "(every mention of the evaluated entity) and filtered (mentions of the other known answers, which may be "
        "empty). Optional group (default: the id) and slices; the slice side, head or tail, is derived from the "
        "question if slices does not give it."
    )
    prediction_format = (
        "One ranking per line: id and ranking, a list of at most 1000 mentions, best first. Mentions are compared "
        "exactly; a repeated mention counts at its first rank. A question without a line, or with an "
        "empty ranking, counts as not found."
    )
    prediction_example = (
        '{"id": "0", "ranking": ["New York", "NYC", "Los Angeles"]}\n{"id": "1", "ranking": ["NBC-TV"]}\n'
    )
    gold_only = audit.GOLD_ONLY
    item_statistic = "question"
    item_result = ByMeasure(
        "an answer is first in the ranking",
        (ItemValue("Rank of the first answer", statistic("question"), statistic("reciprocal_rank")),),
    )
    samples = SAMPLES
    baselines = BASELINES

    def primary(self, facts: Facts | None = None) -> str:
        return MRR.name

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return gold_file.read_gold(stream, file, limits)

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> ValidationData:
        return gold_file.read_inputs(stream, file, limits)

    def validation_data(self, gold: Gold) -> ValidationData:
        return gold.validation_data()

    def read_predictions(
        self, stream: BinaryIO, file: str, known: ValidationData, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        return predictions.read_predictions(stream, file, known, limits)

    def hints(self, answers: Answers) -> list[str]:
        return answers.hints

    def empty_answers(self, gold: Gold) -> Answers:
        return predictions.empty_answers(len(gold.questions))

    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers, filtered=options["setting"])

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        return first_ranked(stream, file, gold.validation_data())

    def sample_answer(self, line: Line, facts: Facts) -> Line:
        subject, _, object_ = line["question"]
        return {"id": line["id"], "ranking": [object_ if subject == QUERY_MARKER else subject]}

    def facts(self, gold: Gold) -> dict[str, Any]:
        return {}

    def public_inputs(self, gold: Gold) -> bytes:
        """Return the inputs in the order of a digest of their ids.

        In gold order (a, r, ?) is often next to (?, r, b), so that the order would reveal both answers, b and a.
        """
        ids = sorted(gold.ids, key=order_key)
        return msgspec.json.Encoder().encode_lines([Question(value, gold.questions[gold.ids[value]]) for value in ids])

    def audit_columns(self, gold: Gold) -> AuditColumns:
        return audit.audit_columns(gold)

    def check_gold(self, split: Split) -> Iterator[Finding]:
        return audit.check_gold(split)

    def gold_fields(self, line: Line) -> GoldFields:
        return audit.gold_fields(line)


TASK = LinkPrediction()
