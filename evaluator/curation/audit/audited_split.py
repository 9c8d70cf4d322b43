"""A split together with its task, which the checks of the audit need to score it and to write its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from evaluator.measures.base import Measure
from evaluator.tasks.audit.split import Split
from evaluator.tasks.base import AnyTask


@dataclass(kw_only=True)
class AuditedSplit(Split):
    """The gold of one split, with its task."""

    task: AnyTask

    @classmethod
    def of_task(cls, task: AnyTask, file: str, gold: Any) -> Self:
        """Build a split from gold that `task.read_gold` has returned. file: the path of the gold file."""
        return cls.of(task.audit.columns(gold), file, gold, task=task)

    @property
    def measure(self) -> Measure:
        """The measure of the task that ranks systems on this gold."""
        return self.task.measure(self.task.primary(self.task.facts(self.gold)))
