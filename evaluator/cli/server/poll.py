"""Waiting for a submission with a progress line, and reading its scores."""

from __future__ import annotations

from typing import Any

from evaluator.cli.output import Progress, say
from evaluator.client import poll
from evaluator.client.http import RefusedError, Server
from evaluator.client.reading import submission_path


def wait_until_finished(server: Server, submission: str) -> dict[str, Any]:
    """Poll a submission, show its status on a terminal, and return it once it is finished."""
    progress = Progress()
    try:
        return poll.wait_until_finished(server, submission, on_status=progress.show)
    finally:
        progress.end()


def scores_of(server: Server, submission: str) -> dict[str, Any] | None:
    """Return the revealed scores of a submission, in the form of the API.

    None if the phase has revealed none yet; the server's explanation is then printed. Raises RefusedError if the server
    refuses the request for another reason.
    """
    try:
        scores: dict[str, Any] = server.get(f"{submission_path(submission)}/scores/")
    except RefusedError as error:
        if error.code != "not_ready":
            raise
        say(f"{error}")
        return None
    return scores
