"""Like `faulty_scorer`, for generators: HOLD_AT names the point, and HOLD_FILE is created there."""

from __future__ import annotations

import os
from typing import Any

from leaderboard import jobs
from leaderboard.curation.actions import run_generator
from leaderboard.evaluation import sandbox_client
from tests.support.workers.hold_point import hold

app = jobs.app


def once(function: Any) -> Any:
    """Call `function` the first time, then hold."""
    calls = iter([function])

    def wrapped(*args: Any) -> Any:
        return next(calls, hold)(*args)

    return wrapped


match os.environ["HOLD_AT"]:
    case "asking":
        # Raw files are open, and the sandbox is about to be called.
        sandbox_client.generate = hold
    case "parts-kept":
        run_generator._looked_at = hold
    case "second-part":
        run_generator._looked_at = once(run_generator._looked_at)
    case other:
        raise SystemExit(f"unknown point {other}")
