"""Sending of a submission, which uses quota, until the server has answered: repeated requests make it only once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from evaluator.client.http import Body, Server, UnavailableError
from evaluator.client.reading import phase_path
from evaluator.jsonl.decompress import is_packed

_CHECKING = 180.0  # seconds: the server validates the predictions
PAUSES = (1.0, 3.0, 10.0, 20.0)
"""Seconds before each repetition of a request to which there was no answer."""
_PASSING = (502, 503, 504)
"""Statuses of a server that is away, or whose database is."""


def send_predictions(
    server: Server,
    benchmark: str,
    phase: str,
    body: Body,
    *,
    name: str,
    metadata: Mapping[str, str | list[str]],
    key: str,
) -> dict[str, Any]:
    """Send a predictions file and return the submission as the API represents it.

    body: bytes, or a file, which is sent from its start. name: the file's name; one that ends in .gz is compressed.
    metadata: `system` and the optional fields of the API, which are left out if they are empty. key: see `send_once`.
    """
    if not isinstance(body, bytes):
        body.seek(0)
    query = {**{key: value for key, value in metadata.items() if value}, "name": name}
    kind = "application/gzip" if is_packed(name) else "application/x-ndjson"
    path = f"{phase_path(benchmark, phase)}/submissions/"
    response: dict[str, Any] = server.request(
        "POST", path, query=query, body=body, content_type=kind, headers=key_header(key), seconds=_CHECKING
    )
    return response


def key_header(key: str) -> dict[str, str]:
    """Return the header by which the server recognises a repeated submission."""
    return {"Idempotency-Key": key}


def send_once(
    send: Callable[[str], dict[str, Any]],
    *,
    on_retry: Callable[[float, UnavailableError], None] = lambda _pause, _error: None,
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
            on_retry(seconds, error)
            (pause or time.sleep)(seconds)
    return send(key)
