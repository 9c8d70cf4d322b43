"""Sending of a submission, at most once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluator.client.http import Body, Server, UnavailableError
from evaluator.client.reading import phase_path
from evaluator.jsonl.decompress import is_packed

_CHECKING = 180.0  # seconds: the server validates the predictions


def send_predictions(
    server: Server, benchmark: str, phase: str, body: Body, *, name: str, metadata: Mapping[str, str | list[str]]
) -> dict[str, Any]:
    """Send a predictions file and return the submission as the API represents it.

    name: the file's name; one that ends in .gz is compressed. metadata: `system` and the optional fields of the API,
    which are left out if they are empty.
    """
    query = {**{key: value for key, value in metadata.items() if value}, "name": name}
    kind = "application/gzip" if is_packed(name) else "application/x-ndjson"
    path = f"{phase_path(benchmark, phase)}/submissions/"
    response: dict[str, Any] = server.request(
        "POST", path, query=query, body=body, content_type=kind, seconds=_CHECKING
    )
    return response


def send_once(
    server: Server,
    send: Callable[[], dict[str, Any]],
    *,
    names: Mapping[str, str],
    on_recovery: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Send a submission at most once, since it uses quota. If the response is lost, check if the submission arrived.

    send: sends the submission and returns it. names: the submission's `benchmark`, `phase`, `system` and `team`.
    on_recovery: called if the response was lost, but the submission had arrived. If it had not, the UnavailableError of
    `send` is raised.
    """
    newest = _newest(server, names)
    try:
        return send()
    except UnavailableError:
        latest = _newest(server, names)
        if latest is None or (newest is not None and latest["id"] == newest["id"]):
            raise
        on_recovery()
        return latest


def _newest(server: Server, names: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the user's latest submission with these `names`, as the API represents it; None if there is none.

    names: the submission's `benchmark`, `phase`, `system` and `team`.
    """
    rows: list[dict[str, Any]] = server.get("submissions/", **names, page_size="1")["results"]
    return rows[0] if rows else None
