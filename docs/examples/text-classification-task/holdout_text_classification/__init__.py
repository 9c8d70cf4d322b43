"""The task text-classification: assign each text to one of several classes."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import numpy as np

from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import order_key
from evaluator.outcomes.table import Outcomes
from evaluator.tasks.answers import CategoricalAnswers, ComparableAnswers
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.base import DimensionDoc, Facts, Options, Task
from evaluator.tasks.gold_fields import GoldFields, Line
from holdout_text_classification import audit, files
from holdout_text_classification.baselines import BASELINES
from holdout_text_classification.files import Answers, Gold, ValidationData
from holdout_text_classification.measures import ACCURACY, MEASURES
from holdout_text_classification.samples import SAMPLES
from holdout_text_classification.scorer import score


class TextClassification(Task[Gold, ValidationData, Answers]):
    name = "text-classification"
    version = 1
    title = "Text classification"
    summary = "Give each text one of several classes."
    measures = MEASURES
    dimensions = (DimensionDoc("label", "The class: its gold texts, and other texts that were assigned to it."),)
    gold_format = (
        "One text per line: id, text, label (any string). Optional group (default: the id) and slices, which may not "
        "contain the dimension label."
    )
    prediction_format = "One line for every id: id and label, one of the benchmark's classes."
    prediction_example = '{"id": "t1", "label": "weather"}\n{"id": "t2", "label": "sport"}\n'
    gold_only = frozenset({"label"})
    samples = SAMPLES
    baselines = BASELINES

    def primary(self, facts: Facts | None = None) -> str:
        return ACCURACY.name

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return files.read_gold(stream, file, limits)

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> ValidationData:
        return files.read_inputs(stream, file, facts.get("labels"), limits)

    def validation_data(self, gold: Gold) -> ValidationData:
        return ValidationData(gold.ids, gold.classes)

    def read_predictions(
        self, stream: BinaryIO, file: str, known: ValidationData, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        return files.read_predictions(stream, file, known, limits)

    def empty_answers(self, gold: Gold) -> Answers:
        return Answers([None] * len(gold.ids))

    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        return score(self.name, self.version, gold, answers)

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        labels = self.read_predictions(stream, file, self.validation_data(gold), options).labels
        codes = {label: code for code, label in enumerate(gold.classes, start=1)}
        answers = np.array([codes.get(label or "", 0) for label in labels], dtype=np.uint64)
        return CategoricalAnswers(
            np.arange(len(labels), dtype=np.uint64), answers, np.array(labels) != np.array(gold.labels)
        )

    def facts(self, gold: Gold) -> dict[str, Any]:
        return {"labels": gold.classes}

    def public_inputs(self, gold: Gold) -> bytes:
        """Return the inputs, ordered by id, because the order of the gold file may reveal the classes."""
        return msgspec.json.Encoder().encode_lines(sorted(gold.texts, key=lambda text: order_key(text.id)))

    def audit_columns(self, gold: Gold) -> AuditColumns:
        return audit.audit_columns(gold)

    def check_gold(self, split: Split) -> Iterator[Finding]:
        return audit.check_gold(split)

    def gold_fields(self, line: Line) -> GoldFields:
        return GoldFields({"text": line["text"]}, {"label": line["label"]})


TASK = TextClassification()
