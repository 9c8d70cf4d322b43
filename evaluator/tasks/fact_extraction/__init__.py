"""Task fact-extraction: extract the facts that a text states, as in WikiFact (Goodrich et al. 2019)."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import numpy as np

from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import order_key
from evaluator.measures.base import statistic
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.answers import ComparableAnswers
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.base import DimensionDoc, Facts, Options, Task
from evaluator.tasks.fact_extraction import audit, predictions
from evaluator.tasks.fact_extraction import gold as gold_file
from evaluator.tasks.fact_extraction.answers import predicted_facts
from evaluator.tasks.fact_extraction.baselines import BASELINES
from evaluator.tasks.fact_extraction.gold import Gold, ValidationData
from evaluator.tasks.fact_extraction.measures import F1, MEASURES
from evaluator.tasks.fact_extraction.predictions import Answers
from evaluator.tasks.fact_extraction.samples import SAMPLES
from evaluator.tasks.fact_extraction.scorer import score
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import ByMeasure, Indices, ItemValue


class FactExtraction(Task[Gold, ValidationData, Answers]):
    name = "fact-extraction"
    version = 1
    title = "Fact extraction"
    summary = (
        "Extract the facts that a text states, as (subject, relation, object). Factual accuracy is the share of "
        "correct facts among those that gold can verify."
    )
    measures = MEASURES
    dimensions = (
        DimensionDoc(
            "relation",
            "The relation of the fact; one slice for each relation of the gold. Predicted facts of other relations "
            "count only in the overall score: its precision may be below that of every relation.",
        ),
    )
    gold_format = (
        'One text per line: id and facts, a list of ["subject", "relation", "object"], which may be empty; optional '
        "text and subject, which the public inputs show; optional group (default: the id) and slices."
    )
    prediction_format = (
        'One text per line: id and facts, a list of ["subject", "relation", "object"]. Facts are a set, compared '
        "exactly: order and repetition do not matter. A text without a line counts as one without facts."
    )
    prediction_example = (
        '{"id": "7", "facts": [["Ada Lovelace", "born in", "London"], ["Ada Lovelace", "child of", "Lord Byron"]]}\n'
        '{"id": "8", "facts": []}\n'
    )
    gold_only = audit.GOLD_ONLY
    item_statistic = "text"
    item_result = ByMeasure(
        "all facts of the text were found, and no others",
        (
            ItemValue("Found", statistic("found")),
            ItemValue("Wrong", statistic("predicted") + -1.0 * statistic("found")),
            ItemValue("Missed", statistic("gold") + -1.0 * statistic("found")),
        ),
    )
    samples = SAMPLES
    baselines = BASELINES

    def primary(self, facts: Facts | None = None) -> str:
        return F1.name

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
        return Answers()

    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers)

    def item_rows(self, gold: Gold, answers: Answers, outcomes: Outcomes) -> Indices:
        """Return for each row of the outcomes the index of its text.

        Each text has its own row, which the rows of its relations follow.
        """
        return np.cumsum(outcomes.statistics[self.item_statistic]).astype(np.int64) - 1

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        return predicted_facts(stream, file, gold)

    def sample_answer(self, line: Line, facts: Facts) -> Line:
        return {"id": line["id"], "facts": [[line.get("subject", "subject"), "relation", "object"]]}

    def facts(self, gold: Gold) -> dict[str, Any]:
        return {}

    def public_inputs(self, gold: Gold) -> bytes:
        """Return the inputs in the order of a digest of their ids.

        Gold may be sorted by annotator or answer, so its order could reveal answers.
        """
        lines = sorted(gold.inputs, key=lambda line: order_key(line.id))
        return msgspec.json.Encoder().encode_lines(lines)

    def audit_columns(self, gold: Gold) -> AuditColumns:
        return audit.audit_columns(gold)

    def check_gold(self, split: Split) -> Iterator[Finding]:
        return audit.check_gold(split)

    def gold_fields(self, line: Line) -> GoldFields:
        return audit.gold_fields(line)


TASK = FactExtraction()
