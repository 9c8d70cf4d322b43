"""The task text-classification: assign each text to one of several classes."""

from typing import Any

import numpy as np

from evaluator.outcomes.table import Dimension
from evaluator.tasks.answers import CategoricalAnswers
from evaluator.tasks.base import DimensionDoc, Facts, Options
from evaluator.tasks.gold_fields import Line
from evaluator.tasks.items.base import ItemStatistics, ItemTask
from holdout_text_classification.audit import AUDIT
from holdout_text_classification.baselines import BASELINES
from holdout_text_classification.files import GOLD, INPUTS, PREDICTIONS, Answers, Gold
from holdout_text_classification.measures import ACCURACY, MEASURES
from holdout_text_classification.samples import SAMPLES


class TextClassification(ItemTask[Gold, Answers]):
    name = "text-classification"
    version = 1
    title = "Text classification"
    summary = "Give each text one of several classes."
    measures = MEASURES
    ranked_by = ACCURACY.name
    gold_layout, inputs_layout, predictions_layout = GOLD, INPUTS, PREDICTIONS
    gold_type, answers_type = Gold, Answers
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
    audit = AUDIT

    def facts(self, gold: Gold) -> dict[str, Any]:
        return {"labels": gold.classes}

    def statistics(self, gold: Gold, answers: Answers, options: Options) -> ItemStatistics:
        """Return one row per gold text, in the slice of its class, then one row per wrong prediction.

        The row of a wrong prediction is in the slice of the predicted class. So the slice of a class has all counts
        that F1 needs: the texts of the class, the correct ones, and the texts that were wrongly assigned to it.
        """
        code = {label: index for index, label in enumerate(gold.classes)}
        right = np.array([code[label] for label in gold.labels], dtype=np.int32)
        predicted = np.array([-1 if label is None else code[label] for label in answers.labels], dtype=np.int32)
        mistakes = np.flatnonzero((predicted != right) & (predicted >= 0))
        texts = np.concatenate([np.arange(len(right)), mistakes])  # the gold text of each row
        is_text = np.arange(len(texts)) < len(right)
        columns = {"text": is_text, "correct": is_text & (predicted == right)[texts], "mistaken": ~is_text}
        labels = np.concatenate([right, predicted[mistakes]])
        dimension = Dimension(labels, tuple(gold.classes), declared=False, within_groups=True)
        return ItemStatistics(columns, {"label": dimension}, items=texts)

    def comparable(self, gold: Gold, answers: Answers) -> CategoricalAnswers:
        code = {label: index for index, label in enumerate(gold.classes, start=1)}
        digests = np.array([code.get(label or "", 0) for label in answers.labels], dtype=np.uint64)
        errs = np.array(answers.labels) != np.array(gold.labels)
        return CategoricalAnswers(np.arange(len(digests), dtype=np.uint64), digests, errs)

    def sample(self, line: Line, facts: Facts) -> Line:
        return {"label": facts["labels"][0]}


TASK = TextClassification()
