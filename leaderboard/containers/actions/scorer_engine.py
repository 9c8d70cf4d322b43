"""Interface to the container engine for custom scorers: from gold and one prediction to scores and outcomes.

Only workers of the queue `scorers` use it (docs/adr/0011). A scorer's log is not stored, because it has seen gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import IO, BinaryIO

from django.conf import settings

from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.contract import Verdict
from leaderboard.containers.actions import engine
from leaderboard.evaluation.container_limits import ContainerLimits
from leaderboard.models import Run

TIMES = (1, 2)
"""Each run has two executions, which must write the same bytes."""
OUTCOMES = "outcomes.jsonl"


@dataclass(frozen=True)
class Ran:
    """Result of an execution. `reason` is empty if it wrote scores, otherwise a text that quotes none of its output."""

    reason: str
    has_outcomes: bool
    seconds: float


def run(
    *,
    run: Run,
    time: int,
    image: str,
    task: str,
    options: Mapping[str, str],
    gold: IO[bytes],
    predictions: IO[bytes],
    limits: ContainerLimits,
    scores: BinaryIO,
    outcomes: BinaryIO,
    keep_going: Callable[[], bool],
) -> Ran:
    """Execute a run's scorer once. Raises ImageError (organisers' fault), SandboxError (server's), CancelledError."""
    scorer = run.scorer
    assert scorer is not None, "only runs by a custom scorer are executed here"
    execution = ScorerExecution(
        execution_id=name_of(run, time),
        image=image,
        gold=gold.fileno(),
        predictions=predictions.fileno(),
        task=task,
        task_version=scorer.number,
        measures=scorer.measures,
        primary=scorer.primary,
        dimensions=run.gold_version.dimensions,
        options=dict(options),
        limits=replace(engine.held(limits), log_bytes=1),
    )
    result = engine.sandbox().score(execution, scores=scores, outcomes=outcomes, keep_going=keep_going)
    problem = "" if result.verdict is Verdict.DONE else result.explanation
    return Ran(problem, OUTCOMES in result.outputs, result.wall_seconds)


def name_of(run: Run, time: int) -> str:
    """Return the id of an execution, by which the reaper identifies its container."""
    return f"{run.pk.hex}-{run.attempt}-{time}"


def names_of(run: Run) -> frozenset[str]:
    """Return the ids of all executions that the run's current attempt may have running."""
    return frozenset(name_of(run, time) for time in TIMES)


def held_by() -> str:
    """Return the container runtime, for the receipt."""
    return str(settings.ENGINE_RUNTIME)
