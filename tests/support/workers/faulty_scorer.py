"""A worker that stops dead at a named point of a run, for tests that kill it there.

Run as `celery -A tests.support.workers.faulty_scorer worker`, with HOLD_AT naming the point and HOLD_FILE a file that
appears when it is reached. It then waits to be killed; the product has no such hook, the points are patched in here.
"""

from __future__ import annotations

import os
from typing import Any

from leaderboard import jobs
from leaderboard.evaluation import sandbox_client
from leaderboard.scoring.actions import releases, runs
from tests.support.workers.hold_point import after, hold

app = jobs.app


def on_second_call(function: Any, then: Any) -> Any:
    """`function` the first time, `then` after that."""
    calls = iter([function])

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return next(calls, then)(*args, **kwargs)

    return wrapped


match os.environ["HOLD_AT"]:
    case "claimed":
        runs.WORK.do = hold
    case "running":
        # The stored files are open and the sandbox is about to be asked.
        sandbox_client._ask = hold
    case "scored":
        runs._publish_if_valid = hold
    case "scored-uncommitted":
        releases.publish = after(releases.publish)
    case "second-claimed":
        runs.WORK.do = on_second_call(runs.WORK.do, hold)
    case "second-uncommitted":
        releases.publish = on_second_call(releases.publish, after(releases.publish))
    case "committed-unacknowledged":
        runs.WORK.run = after(runs.WORK.run)
    case other:
        raise SystemExit(f"unknown point {other}")
