"""Polling of a submission until it is finished, and its scores."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from evaluator.cli.output import Progress, say
from evaluator.cli.server.http import RefusedError, Server, UnavailableError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_PATIENCE = 20
"""Number of consecutive requests without a response after which polling gives up."""


def wait_until_finished(
    server: Server, submission: str, *, pause: Callable[[float], None] = time.sleep
) -> dict[str, Any]:
    """Poll a submission and return it, as the API represents it, once it is finished.

    Raises RefusedError, and UnavailableError after _PATIENCE requests in a row without a response.
    """
    progress, interval, failures, last_status = Progress(), _FIRST_PAUSE, 0, ""
    try:
        while True:
            try:
                submission_data: dict[str, Any] = server.get(f"submissions/{submission}/")
                failures = 0
            except UnavailableError:
                failures += 1
                if failures >= _PATIENCE:
                    raise
                pause(_LONGEST_PAUSE)
                continue
            if submission_data["is_over"]:
                return submission_data
            status = _status_text(submission_data)
            progress.show(status)
            if status != last_status:
                last_status, interval = status, _FIRST_PAUSE
            pause(interval)
            interval = min(interval * 1.5, _LONGEST_PAUSE)
    finally:
        progress.end()


def scores_of(server: Server, submission: str) -> dict[str, Any] | None:
    """Return the revealed scores of a submission; None if the phase has not revealed any yet."""
    try:
        scores: dict[str, Any] = server.get(f"submissions/{submission}/scores/")
    except RefusedError as error:
        if error.code != "not_ready":
            raise
        say(f"{error}")
        return None
    return scores


def _status_text(submission: dict[str, Any]) -> str:
    # A server of the previous version has the former name only.
    position = submission.get("queue_position", submission.get("place_in_queue"))
    waiting = f", {position} ahead of it" if submission["state"] == "queued" and position is not None else ""
    stage = f", {submission['stage']}" if submission.get("stage") else ""
    return f"{submission['state']}{waiting}{stage}"
