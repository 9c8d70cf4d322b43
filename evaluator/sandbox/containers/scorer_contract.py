"""Contract of a custom scorer's container: its inputs and required outputs.

The container has these read-only files:

    /gold/gold.jsonl                  the gold version of this run, unpacked
    /predictions/predictions.jsonl    the one prediction of this run, unpacked
    /input/task.json                  {"format_version", "task", "task_version", "options", "measures", "primary",
                                      "dimensions", "gold", "predictions", "scores", "outcomes", "limits"}

It writes `/output/scores.json`, and optionally `/output/outcomes.jsonl` (`evaluator.custom_scorer.scores_file`
describes both), then exits with status 0. It is confined like a submitted system (`system_contract`): nobody, read-only
root, no network. What the scorer prints could contain gold, so the caller must not show it to participants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluator.sandbox.containers.system_contract import SystemLimits, check_names

GOLD = "/gold/gold.jsonl"
PREDICTIONS = "/predictions/predictions.jsonl"
SCORES = "/output/scores.json"
OUTCOMES = "/output/outcomes.jsonl"


@dataclass(frozen=True, kw_only=True)
class ScorerExecution:
    """One execution of one custom scorer on one gold version and one prediction.

    execution_id, image: as for `system_contract.SystemExecution`. gold, predictions: open read-only descriptors of
    regular files; they are not closed, and their offsets do not change. task_version: the version of the custom scorer,
    in place of a task's version; `scores.json` must repeat it. measures: each with the keys "name", "title", "doc",
    "lower", "upper" and "higher_is_better". primary: the name of the measure that ranks systems. dimensions: name ->
    values of each dimension of the gold. scores_bytes: the maximum size of `scores.json`.
    """

    execution_id: str
    image: str
    gold: int
    predictions: int
    task: str
    task_version: int
    measures: Sequence[Mapping[str, Any]]
    primary: str
    dimensions: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: SystemLimits = field(default_factory=SystemLimits)
    scores_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        check_names(self.execution_id, self.image)
