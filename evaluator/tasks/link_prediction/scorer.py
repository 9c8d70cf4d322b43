"""Scores link-prediction: one row a question."""

from typing import Any

import numpy as np

from evaluator.jsonl.ids import Id, slice_columns
from evaluator.outcomes.table import Codes, Dimension, Outcomes
from evaluator.tasks.link_prediction.gold import Gold
from evaluator.tasks.link_prediction.measures import CUTS
from evaluator.tasks.link_prediction.predictions import Answers


def score(task: str, version: int, gold: Gold, answers: Answers, *, filtered: bool) -> Outcomes:
    """filtered: other known answers do not take a place in the ranking."""
    rank = answers.raw - answers.filtered_before if filtered else answers.raw
    found = rank > 0
    names: dict[Id, int] = {}
    groups = np.array([names.setdefault(group, len(names)) for group in gold.groups], dtype=np.int32)
    columns: dict[str, Any] = {
        "question": np.ones(len(rank)),
        "reciprocal_rank": np.where(found, 1 / np.maximum(rank, 1), 0.0),
    }
    columns |= {f"hits_{k}": found & (rank <= k) for k in CUTS}
    return Outcomes(
        task=task,
        task_version=version,
        n_units=len(rank),
        group_names=tuple(names),
        groups=groups,
        statistics={name: np.asarray(column, dtype=np.float64) for name, column in columns.items()},
        dimensions=_dimensions(gold, groups),
    )


def _dimensions(gold: Gold, groups: Codes) -> dict[str, Dimension]:
    declared = slice_columns(gold.slices)
    given = declared.pop("side", None)
    sides: list[Any] = list(gold.sides)
    if given is not None:
        sides = [own if side is None else side for own, side in zip(sides, given, strict=True)]
    made = {"side": Dimension.build(sides, groups, declared=given is not None)}
    return made | {name: Dimension.build(column, groups, declared=True) for name, column in declared.items()}
