"""Following a submission past a server that is away for a while, and not past one that stays away."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.cli.server import poll
from evaluator.cli.server.http import RefusedError, UnavailableError

RUNNING = {"is_over": False, "state": "running", "stage": "collecting"}
DONE = {"is_over": True, "state": "done"}


class Told:
    """A server that gives these answers, in their order."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def get(self, path: str) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def followed(*answers: Any) -> tuple[Any, list[float]]:
    pauses: list[float] = []
    server: Any = Told(*answers)
    told = poll.wait_until_finished(server, "id", pause=pauses.append)
    assert server.answers == []
    return told, pauses


def test_it_ends_with_the_submission() -> None:
    told, pauses = followed(RUNNING, RUNNING, RUNNING, DONE)
    assert told == DONE
    assert len(pauses) == 3
    assert pauses[0] < pauses[-1] <= 5


def test_a_server_that_comes_back_is_asked_again() -> None:
    away = [UnavailableError("gone")] * (poll._PATIENCE - 1)
    assert followed(*away, RUNNING, *away, DONE)[0] == DONE


def test_a_server_that_stays_away_is_told() -> None:
    with pytest.raises(UnavailableError, match="gone"):
        followed(*[UnavailableError("gone")] * poll._PATIENCE)


def test_a_refusal_is_no_absence() -> None:
    with pytest.raises(RefusedError):
        followed(RefusedError(404, "not_found", "There is nothing here."), DONE)


def test_scores_that_are_sealed_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    server: Any = Told(RefusedError(409, "not_ready", "There are no scores yet."))
    assert poll.scores_of(server, "id") is None
    assert "There are no scores yet." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["queue_position", "place_in_queue"])
def test_the_queue_position_of_this_and_of_the_previous_version(name: str) -> None:
    assert poll._status_text({"state": "queued", name: 3}) == "queued, 3 before it"
