"""Scorer of fact-checking: makes the table of outcomes, with one row per claim."""

from typing import Any

import numpy as np

from evaluator.jsonl.ids import group_codes, slice_columns
from evaluator.outcomes.table import Codes, Dimension, Outcomes
from evaluator.tasks.fact_checking.gold import Gold
from evaluator.tasks.scored_items.files import Scores


def score(task: str, version: int, gold: Gold, answers: Scores) -> Outcomes:
    names, groups = group_codes(gold.groups)
    return Outcomes(
        task=task,
        task_version=version,
        n_units=len(groups),
        group_names=names,
        groups=groups,
        statistics={
            "claim": np.ones(len(groups)),
            "positive": np.array(gold.labels, dtype=np.float64),
            "score": answers.values,
        },
        dimensions=_dimensions(gold, groups),
    )


def _dimensions(gold: Gold, groups: Codes) -> dict[str, Dimension]:
    declared = slice_columns(gold.slices)
    declared_relations = declared.pop("relation", None)
    relations: list[Any] = [claim.relation for claim in gold.claims]
    if declared_relations is not None:
        relations = [
            own if declared_relation is None else declared_relation
            for own, declared_relation in zip(relations, declared_relations, strict=True)
        ]
    dimensions = {"relation": Dimension.build(relations, groups, declared=declared_relations is not None)}
    return dimensions | {name: Dimension.build(column, groups, declared=True) for name, column in declared.items()}
