"""A systems worker that stops at a named point of an execution, for tests that kill it there.

As in `faulty_scorer`, HOLD_AT names the point, and HOLD_FILE is created there.
"""

from __future__ import annotations

import os
from typing import Any

from evaluator.sandbox.containers import execution
from leaderboard import jobs
from leaderboard.containers.actions import engine, run_system
from leaderboard.models import Stage
from tests.support.workers.hold_point import after, hold

app = jobs.app


def at_stage(stage_to_hold: str) -> Any:
    """Hold when the prediction has entered a stage."""
    enter = run_system._enter

    def entering(lease: Any, stage: str) -> None:
        enter(lease, stage)
        if stage == stage_to_hold:
            hold()

    return entering


match os.environ["HOLD_AT"]:
    case "claimed":
        run_system.WORK.do = hold
    case "reading":
        run_system._enter = at_stage(Stage.READING)
    case "loading":
        run_system._enter = at_stage(Stage.LOADING)
    case "running":
        # The container runs, and its worker was about to check whether it has ended.
        execution.Run._wait = hold
    case "ended":
        engine.DockerSandbox.run = after(engine.DockerSandbox.run)
    case "collecting":
        run_system._enter = at_stage(Stage.COLLECTING)
    case "stored-uncommitted":
        run_system._hand_over = hold
    case other:
        raise SystemExit(f"unknown point {other}")
