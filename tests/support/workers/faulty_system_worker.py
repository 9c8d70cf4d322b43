"""A systems worker that stops dead at a named point of a container's way, for tests that kill it there.

As `faulty_scorer`: HOLD_AT names the point, HOLD_FILE appears when it is reached.
"""

from __future__ import annotations

import os
from typing import Any

from evaluator.sandbox.containers import execution
from leaderboard import jobs
from leaderboard.containers.actions import engine
from leaderboard.containers.actions import run_system as predictions
from leaderboard.models import Stage
from tests.support.workers.hold_point import after, hold

app = jobs.app


def at_stage(wanted: str) -> Any:
    """Holds once the prediction has entered a stage."""
    enter = predictions._enter

    def entering(mine: Any, stage: str) -> None:
        enter(mine, stage)
        if stage == wanted:
            hold()

    return entering


match os.environ["HOLD_AT"]:
    case "claimed":
        predictions.WORK.do = hold
    case "reading":
        predictions._enter = at_stage(Stage.READING)
    case "loading":
        predictions._enter = at_stage(Stage.LOADING)
    case "running":
        # The container runs, and its worker was about to look whether it has ended.
        execution.Run._wait = hold
    case "ended":
        engine.DockerSandbox.run = after(engine.DockerSandbox.run)
    case "collecting":
        predictions._enter = at_stage(Stage.COLLECTING)
    case "stored-uncommitted":
        predictions._hand_over = hold
    case "committed-unacknowledged":
        predictions.WORK.run = after(predictions.WORK.run)
    case other:
        raise SystemExit(f"unknown point {other}")
