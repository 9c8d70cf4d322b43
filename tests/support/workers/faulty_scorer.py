"""A worker that stops at a named point of a run, for tests that kill it there.

Run `celery -A tests.support.workers.faulty_scorer worker`, with HOLD_AT naming the point. It creates HOLD_FILE there
and waits to be killed. The product has no such hooks; this module patches the points.
"""

from __future__ import annotations

import os
from typing import Any

from leaderboard import jobs
from leaderboard.evaluation import sandbox_client
from leaderboard.scoring.actions import releases, runs
from tests.support.workers.hold_point import after, freeze, hold

app = jobs.app


def on_second_call(function: Any, then: Any) -> Any:
    """Call `function` the first time, then `then`."""
    calls = iter([function])

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return next(calls, then)(*args, **kwargs)

    return wrapped


match os.environ["HOLD_AT"]:
    case "claimed":
        runs.WORK.do = hold
    case "running":
        # The stored files are open, and the sandbox is about to be called.
        sandbox_client._ask = hold
    case "scored":
        runs._publish_if_valid = hold
    case "frozen-uncommitted":
        releases.publish = after(releases.publish, then=freeze)
    case "second-uncommitted":
        releases.publish = on_second_call(releases.publish, after(releases.publish))
    case other:
        raise SystemExit(f"unknown point {other}")
