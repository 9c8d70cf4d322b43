"""Polling of a submission until it is finished."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from evaluator.client.http import UnavailableError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
PATIENCE = 20
"""Number of consecutive requests without a response after which polling gives up."""


def wait_until_finished(
    ask: Callable[[], dict[str, Any]],
    *,
    on_status: Callable[[str], None] = lambda _: None,
    pause: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Poll a submission and return it, as the API represents it, once it is finished.

    ask: requests the submission. on_status: called after each request with the status of the unfinished submission in
    words. pause: sleeps for a number of seconds; None: `time.sleep`. Raises RefusedError, and UnavailableError after
    PATIENCE requests in a row without a response.
    """
    pause = pause or time.sleep
    interval, failures, last_status = FIRST_PAUSE, 0, ""
    while True:
        try:
            submission_data: dict[str, Any] = ask()
            failures = 0
        except UnavailableError:
            failures += 1
            if failures >= PATIENCE:
                raise
            pause(LONGEST_PAUSE)
            continue
        if submission_data["is_over"]:
            return submission_data
        status = _status_text(submission_data)
        on_status(status)
        if status != last_status:
            last_status, interval = status, FIRST_PAUSE
        pause(interval)
        interval = min(interval * 1.5, LONGEST_PAUSE)


def _status_text(submission: dict[str, Any]) -> str:
    position = submission["queue_position"]
    waiting = f", {position} ahead of it" if submission["state"] == "queued" and position is not None else ""
    stage = f", {submission['stage']}" if submission.get("stage") else ""
    return f"{submission['state']}{waiting}{stage}"
