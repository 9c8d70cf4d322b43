"""A worker for scorers that stops at a named point of a run, for tests that kill it there.

As in `faulty_scorer`, HOLD_AT names the point, and HOLD_FILE is created there.
"""

from __future__ import annotations

import os
from typing import Any

from evaluator.sandbox.containers import execution
from leaderboard import jobs
from leaderboard.containers.actions import run_scorer, scorer_engine
from leaderboard.scoring.actions import runs
from tests.support.workers.hold_point import after, hold

app = jobs.app


def second_time(run: Any) -> Any:
    """Hold at the start of the second execution."""

    def running(**arguments: Any) -> Any:
        if arguments["time"] == scorer_engine.TIMES[-1]:
            hold()
        return run(**arguments)

    return running


match os.environ["HOLD_AT"]:
    case "claimed":
        run_scorer.WORK.do = hold
    case "running":
        # The container runs with gold in its volumes, and its worker was about to check whether it has ended.
        execution.Run._wait = hold
    case "between":
        scorer_engine.run = second_time(scorer_engine.run)
    case "executed-twice":
        run_scorer._read_and_publish = hold
    case "stored-uncommitted":
        runs.releases.publish = hold
    case "committed-unacknowledged":
        run_scorer.WORK.take = after(run_scorer.WORK.take)
    case other:
        raise SystemExit(f"unknown point {other}")
