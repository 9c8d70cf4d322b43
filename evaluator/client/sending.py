"""Sending of a submission, which uses quota, until the server has answered: repeated requests make it only once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from evaluator.client.http import UnavailableError

PAUSES = (1.0, 3.0, 10.0, 20.0)
"""Seconds before each repetition of a request to which there was no answer."""
_PASSING = (502, 503, 504)
"""Statuses of a server that is away, or whose database is."""

Retry = Callable[[float, UnavailableError], None]


def send_once(
    send: Callable[[str], dict[str, Any]],
    *,
    on_retry: Retry | None = None,
    pause: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Send a submission, and repeat the request while the server does not answer; return the submission.

    send: sends the submission with an idempotency key and returns it. All repetitions have the same key, so that the
    server makes only one submission, whichever of its answers were lost. on_retry: called before each repetition with
    the seconds until then and the error. pause: sleeps for a number of seconds; None: `time.sleep`. Raises the error of
    `send` if it is not one that passes, or remains after PAUSES; at once if nothing listens at the server's address.
    """
    key = str(uuid.uuid4())
    for n, seconds in enumerate(PAUSES):
        try:
            return send(key)
        except UnavailableError as error:
            if error.status is not None and error.status not in _PASSING:
                raise
            if error.nothing_listens and n == 0:
                raise
            if on_retry is not None:
                on_retry(seconds, error)
            (pause or time.sleep)(seconds)
    return send(key)
