"""The door to the engine for organisers' own scorers: gold and one prediction in, scores and outcomes out.

Workers of the queue `scorers` alone come through it (docs/adr/0011). What a scorer prints is kept nowhere: it has seen
gold.
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
"""Each run is two executions, which must write the same."""
OUTCOMES = "outcomes.jsonl"


@dataclass(frozen=True)
class Ran:
    """How an execution ended. `fault` is empty where it left scores; else it says why not, in words of ours."""

    fault: str
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
    """One of the run's executions. Raises ImageError (the organisers'), SandboxError (ours), CancelledError."""
    scorer = run.scorer
    assert scorer is not None, "only runs by a scorer come here"
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
    fault = "" if result.verdict is Verdict.DONE else result.explanation
    return Ran(fault, OUTCOMES in result.outputs, result.wall_seconds)


def name_of(run: Run, time: int) -> str:
    """What the reaper knows an execution by."""
    return f"{run.pk.hex}-{run.attempt}-{time}"


def names_of(run: Run) -> frozenset[str]:
    """Of all executions that an attempt may have under way."""
    return frozenset(name_of(run, time) for time in TIMES)


def held_by() -> str:
    """The runtime that holds it, for the receipt."""
    return str(settings.ENGINE_RUNTIME)
