"""Interface to the container engine for custom scorers: runs one on gold and predictions to get scores and outcomes.

Only workers of the queue `scorers` use this module (docs/adr/0011). Text that a scorer prints is not stored, because
the scorer has read gold.
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
"""Numbers of a run's executions: each run executes its scorer twice, and both must write the same bytes."""
OUTCOMES = "outcomes.jsonl"


@dataclass(frozen=True)
class ExecutionResult:
    """Result of one execution of a scorer.

    reason: empty if the scorer wrote scores, otherwise a sentence about the failure that quotes none of the scorer's
    output. has_outcomes: True if the scorer also wrote outcomes.jsonl. seconds: wall time of the container.
    """

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
) -> ExecutionResult:
    """Execute a run's scorer once on the files `gold` and `predictions`; write its output to `scores` and `outcomes`.

    time: number of the execution, one of TIMES. image: id of an image that is loaded in the engine. keep_going: called
    about once a second; if it returns False, the container is stopped and CancelledError raised. Raises ImageError if
    the image must not be run (the organisers' fault), and SandboxError for a failure of the engine (the server's
    fault).
    """
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
    earlier = (f"{run.pk.hex}-{attempt}-{number}" for attempt in range(1, run.attempt) for number in TIMES)
    engine.cancel_earlier(*earlier)
    result = engine.sandbox().score(execution, scores=scores, outcomes=outcomes, keep_going=keep_going)
    problem = "" if result.verdict is Verdict.DONE else result.explanation
    return ExecutionResult(problem, OUTCOMES in result.outputs, result.wall_seconds)


def name_of(run: Run, time: int) -> str:
    """Return the id of an execution of the run's scorer in the current attempt. time: its number, one of TIMES.

    `engine.reap` identifies the container by this id.
    """
    return f"{run.pk.hex}-{run.attempt}-{time}"


def names_of(run: Run) -> frozenset[str]:
    """Return the ids of all executions of the run's scorer in the current attempt, any of which may be running."""
    return frozenset(name_of(run, time) for time in TIMES)


def held_by() -> str:
    """Return the name of the container runtime, such as runsc, for the receipt of a run."""
    return str(settings.ENGINE_RUNTIME)
