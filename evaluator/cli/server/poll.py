"""Following a submission to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from evaluator.cli.output import Progress, say
from evaluator.cli.server.http import AwayError, RefusedError, Server

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_PATIENCE = 20
"""Questions in a row without an answer, after which the server is taken to be gone for long."""


def followed(server: Server, submission: str, *, pause: Callable[[float], None] = time.sleep) -> dict[str, Any]:
    """The submission once it is over. Raises RefusedError, and AwayError where the server stays away."""
    progress, waited, unanswered, known = Progress(), _FIRST_PAUSE, 0, ""
    try:
        while True:
            try:
                told: dict[str, Any] = server.get(f"submissions/{submission}/")
                unanswered = 0
            except AwayError:
                unanswered += 1
                if unanswered >= _PATIENCE:
                    raise
                pause(_LONGEST_PAUSE)
                continue
            if told["is_over"]:
                return told
            now = _in_words(told)
            progress.show(now)
            if now != known:
                known, waited = now, _FIRST_PAUSE
            pause(waited)
            waited = min(waited * 1.5, _LONGEST_PAUSE)
    finally:
        progress.end()


def scores_of(server: Server, submission: str) -> dict[str, Any] | None:
    """What was revealed; None where the phase has revealed nothing yet."""
    try:
        found: dict[str, Any] = server.get(f"submissions/{submission}/scores/")
    except RefusedError as error:
        if error.code != "not_ready":
            raise
        say(f"{error}")
        return None
    return found


def _in_words(told: dict[str, Any]) -> str:
    place = told.get("place_in_queue")
    waiting = f", {place} before it" if told["state"] == "queued" and place is not None else ""
    stage = f", {told['stage']}" if told.get("stage") else ""
    return f"{told['state']}{waiting}{stage}"
