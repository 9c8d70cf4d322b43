"""Waiting for a submission: a server may be unavailable for a while, but not indefinitely."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.client import api
from evaluator.client.http import RefusedError, UnavailableError

RUNNING = {"is_over": False, "state": "running", "queue_position": None, "stage": "collecting"}
DONE = {"is_over": True, "state": "done"}


def follow(*answers: Any) -> tuple[Any, list[float]]:
    left, pauses = list(answers), []

    def ask() -> Any:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    status = api.wait_until_finished(ask, pause=pauses.append)
    assert left == []
    return status, pauses


def test_waiting_ends_with_the_submission() -> None:
    status, pauses = follow(RUNNING, RUNNING, RUNNING, DONE)
    assert status == DONE
    assert len(pauses) == 3
    assert pauses[0] < pauses[-1] <= 5


def test_waiting_continues_after_a_short_outage() -> None:
    outage = [UnavailableError("gone")] * (api.PATIENCE - 1)
    assert follow(*outage, RUNNING, *outage, DONE)[0] == DONE


def test_a_long_outage_is_reported() -> None:
    with pytest.raises(UnavailableError, match="gone"):
        follow(*[UnavailableError("gone")] * api.PATIENCE)


def test_a_refusal_ends_the_waiting() -> None:
    with pytest.raises(RefusedError):
        follow(RefusedError(404, "not_found", "There is nothing here."), DONE)


def test_the_status_has_the_queue_position() -> None:
    assert api._status_text({"state": "queued", "queue_position": 3}) == "queued, 3 ahead of it"
