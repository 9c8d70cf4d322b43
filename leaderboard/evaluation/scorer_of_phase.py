"""The scorer of a phase: its benchmark's task or a custom scorer, with version and measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluator.custom_scorer.measures import MeasureDeclaration, measures_of
from evaluator.measures.base import Measure
from evaluator.tasks.base import Task
from evaluator.tasks.registry import TASKS
from leaderboard.models import GoldVersion, Leaderboard, Phase, Scorer


@dataclass(frozen=True)
class Scoring:
    """A task with its version, or a custom scorer, whose number takes the place of the task version."""

    task: Task[Any, Any, Any]
    scorer: Scorer | None = None

    @property
    def version(self) -> int:
        return self.scorer.number if self.scorer else self.task.version

    @property
    def kind(self) -> str:
        """Label of the version."""
        return "scorer" if self.scorer else "task version"

    @cached_property
    def declared(self) -> tuple[Measure, ...]:
        """All measures, in the order of their declaration."""
        if self.scorer is None:
            return self.task.measures
        return measures_of([MeasureDeclaration(**measure) for measure in self.scorer.measures])

    def measure(self, name: str) -> Measure:
        """Return a measure by name. Raises KeyError."""
        return {measure.name: measure for measure in self.declared}[name]

    def measures(self, gold: GoldVersion) -> tuple[Measure, ...]:
        """Return the measures that exist for a gold; a custom scorer's exist for any."""
        if self.scorer is not None:
            return self.declared
        return tuple(measure for measure in self.declared if measure.name in gold.measures)

    def primary(self, gold: GoldVersion) -> str:
        """Return the name of the measure that ranks."""
        return self.scorer.primary if self.scorer else gold.primary


def of(phase: Phase) -> Scoring:
    """Return a phase's current scorer; `phase` must have its benchmark and scorer selected."""
    return Scoring(TASKS[phase.benchmark.task], phase.scorer)


def of_board(board: Leaderboard) -> Scoring:
    """Return the scorer of a board, which may be an earlier one than the phase's current scorer."""
    phase = board.phase
    scorer = phase.scorer
    if scorer is not None and scorer.number != board.task_version:
        scorer = Scorer.objects.get(benchmark=phase.benchmark_id, number=board.task_version)
    return Scoring(TASKS[phase.benchmark.task], scorer)
