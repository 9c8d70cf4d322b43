"""Scorer of link-prediction: makes the table of outcomes, with one row per question."""

from typing import Any

import numpy as np

from evaluator.jsonl.ids import group_codes, slice_columns
from evaluator.outcomes.table import Codes, Dimension, Outcomes
from evaluator.tasks.link_prediction.gold import Gold
from evaluator.tasks.link_prediction.measures import CUTS
from evaluator.tasks.link_prediction.predictions import Answers


def score(task: str, version: int, gold: Gold, answers: Answers, *, filtered: bool) -> Outcomes:
    """Return the outcomes of rankings.

    filtered: True to remove the other known answers from a ranking before the rank of its first answer is counted.
    """
    rank = answers.raw - answers.filtered_before if filtered else answers.raw
    has_answer = rank > 0
    names, groups = group_codes(gold.groups)
    columns: dict[str, Any] = {
        "question": np.ones(len(rank)),
        "reciprocal_rank": np.where(has_answer, 1 / np.maximum(rank, 1), 0.0),
    }
    columns |= {f"hits_{k}": has_answer & (rank <= k) for k in CUTS}
    return Outcomes(
        task=task,
        task_version=version,
        n_units=len(rank),
        group_names=names,
        groups=groups,
        statistics={name: np.asarray(column, dtype=np.float64) for name, column in columns.items()},
        dimensions=_dimensions(gold, groups),
    )


def _dimensions(gold: Gold, groups: Codes) -> dict[str, Dimension]:
    declared = slice_columns(gold.slices)
    declared_sides = declared.pop("side", None)
    sides: list[Any] = list(gold.sides)
    if declared_sides is not None:
        sides = [own if side is None else side for own, side in zip(sides, declared_sides, strict=True)]
    dimensions = {"side": Dimension.build(sides, groups, declared=declared_sides is not None)}
    return dimensions | {name: Dimension.build(column, groups, declared=True) for name, column in declared.items()}
