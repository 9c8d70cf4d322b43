"""Scorer of metric-correlation: makes the table of outcomes, with one row per rated text."""

import numpy as np

from evaluator.jsonl.ids import group_codes, slice_columns
from evaluator.outcomes.table import Dimension, Outcomes
from evaluator.tasks.metric_correlation.gold import Gold
from evaluator.tasks.scored_items.files import Scores


def score(task: str, version: int, gold: Gold, answers: Scores) -> Outcomes:
    names, groups = group_codes(gold.groups)
    statistics = {
        "text": np.ones(len(groups)),
        "human": np.array(gold.ratings, dtype=np.float64),
        "score": answers.values,
    }
    if gold.names_systems:
        systems: dict[str | int | None, int] = {}
        numbers = [systems.setdefault(system, len(systems)) for system in gold.systems]
        statistics["system"] = np.array(numbers, dtype=np.float64)
    columns = slice_columns(gold.slices)
    return Outcomes(
        task=task,
        task_version=version,
        n_units=len(groups),
        group_names=names,
        groups=groups,
        statistics=statistics,
        dimensions={name: Dimension.build(column, groups, declared=True) for name, column in columns.items()},
        facts={"system": gold.names_systems},
    )
