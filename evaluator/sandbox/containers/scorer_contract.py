"""What an organiser's own scorer image is given, and what it owes: the contract of its container.

It finds, all of it read-only,

    /gold/gold.jsonl                  the gold version of this run, unpacked
    /predictions/predictions.jsonl    the one prediction of this run, unpacked
    /input/task.json                  {"format_version", "task", "task_version", "options", "measures", "primary",
                                      "dimensions", "gold", "predictions", "scores", "outcomes", "limits"}

and writes `/output/scores.json`, and `/output/outcomes.jsonl` if it can (`evaluator.custom_scorer.scores_file` says how
they look), then exits with status 0. It is held exactly as a submitted system is (`systems`): nobody, read-only root,
no network. Whoever runs it passes nothing on of what it prints: gold could be in it.
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
    """One execution of one scorer on one gold and one prediction.

    execution_id, image: as for `systems.SystemExecution`. gold, predictions: open read-only descriptors of regular
    files, neither moved nor closed. task_version: what `scores.json` must name; the scorer's number. measures:
    {"name", "title", "doc", "lower", "upper", "higher_is_better"} each. dimensions: those of the gold, with values.
    scores_bytes: the most that `scores.json` may have.
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
