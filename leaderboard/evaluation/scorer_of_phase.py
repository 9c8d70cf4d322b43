"""The scorer of a phase, with its version and measures: the benchmark's task, or a custom scorer (an image)."""

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
class PhaseScorer:
    """The scorer of a phase, with its version and measures: the benchmark's task, or a custom scorer.

    task: the benchmark's task, which always defines the file formats. scorer: the custom scorer that scores instead of
    the task; None if the task scores.
    """

    task: Task[Any, Any, Any]
    scorer: Scorer | None = None

    @property
    def version(self) -> int:
        return self.scorer.number if self.scorer else self.task.version

    @property
    def kind(self) -> str:
        """The noun that pages put before the number `version`, as in "scorer 3" or "task version 2"."""
        return "scorer" if self.scorer else "task version"

    @cached_property
    def declared(self) -> tuple[Measure, ...]:
        """All measures that the task or the custom scorer declares, in the order of their declaration."""
        if self.scorer is None:
            return self.task.measures
        return measures_of([MeasureDeclaration(**measure) for measure in self.scorer.measures])

    def measure(self, name: str) -> Measure:
        """Return the declared measure with this name. Raises KeyError if there is none."""
        return {measure.name: measure for measure in self.declared}[name]

    def measures(self, gold: GoldVersion) -> tuple[Measure, ...]:
        """Return the declared measures that can be computed on a gold version; all measures of a custom scorer."""
        if self.scorer is not None:
            return self.declared
        return tuple(measure for measure in self.declared if measure.name in gold.measures)

    def primary(self, gold: GoldVersion) -> str:
        """Return the name of the primary measure, which ranks systems on boards of a gold version."""
        return self.scorer.primary if self.scorer else gold.primary


def of(phase: Phase) -> PhaseScorer:
    """Return the current scorer of a phase. `phase` should have its benchmark and scorer loaded (select_related)."""
    return PhaseScorer(TASKS[phase.benchmark.task], phase.scorer)


def of_board(board: Leaderboard) -> PhaseScorer:
    """Return the scorer of a board's scores, which may be an earlier custom scorer than the phase's current one."""
    phase = board.phase
    scorer = phase.scorer
    if scorer is not None and scorer.number != board.task_version:
        scorer = Scorer.objects.get(benchmark=phase.benchmark_id, number=board.task_version)
    return PhaseScorer(TASKS[phase.benchmark.task], scorer)
