"""Scorer, which makes outcomes: one row per gold text, in the slice of its class, then one row per wrong prediction.

The row of a wrong prediction is in the slice of the predicted class. So the slice of a class has all counts that F1
needs: the texts of the class, the correct ones, and the texts that were wrongly assigned to it.
"""

import numpy as np

from evaluator.jsonl.ids import Id, slice_columns
from evaluator.outcomes.table import Dimension, Outcomes
from holdout_text_classification.files import Answers, Gold


def score(task: str, version: int, gold: Gold, answers: Answers) -> Outcomes:
    code = {label: index for index, label in enumerate(gold.classes)}
    right = np.array([code[label] for label in gold.labels], dtype=np.int32)
    predicted = np.array([-1 if label is None else code[label] for label in answers.labels], dtype=np.int32)
    mistakes = np.flatnonzero((predicted != right) & (predicted >= 0))
    rows = np.concatenate([np.arange(len(right)), mistakes])  # the gold text of each row
    is_text = np.arange(len(rows)) < len(right)
    names: dict[Id, int] = {}
    groups = np.array([names.setdefault(group, len(names)) for group in gold.groups], dtype=np.int32)[rows]
    labels = np.concatenate([right, predicted[mistakes]])
    dimensions = {"label": Dimension(labels, tuple(gold.classes), declared=False, within_groups=True)}
    for name, column in slice_columns(gold.slices).items():
        dimensions[name] = Dimension.build([column[row] for row in rows.tolist()], groups, declared=True)
    return Outcomes(
        task=task,
        task_version=version,
        n_units=len(right),
        group_names=tuple(names),
        groups=groups,
        statistics={
            "text": is_text.astype(np.float64),
            "correct": (is_text & (predicted == right)[rows]).astype(np.float64),
            "mistaken": (~is_text).astype(np.float64),
        },
        dimensions=dimensions,
    )
