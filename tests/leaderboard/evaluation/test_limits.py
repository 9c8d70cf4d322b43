"""The container limits that a phase may set."""

from __future__ import annotations

import math
from typing import Any

import pytest

from leaderboard.evaluation import container_limits


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cpus": 1e-12}, "limit cpus is 1e-12, expected 0.01 or more"),
        ({"cpus": math.nan}, "limit cpus is nan"),
        ({"wall_seconds": math.inf}, "limit wall_seconds is inf"),
        ({"memory_bytes": 0}, "limit memory_bytes is 0, expected 1 or more"),
        ({"gpus": 1}, "unknown limit 'gpus', expected one of wall_seconds"),
        ({"processes": 1.5}, "limit processes is 1.5, expected a whole number"),
        ({"processes": True}, "limit processes is True, expected a whole number"),
        ({"wall_seconds": "9"}, "limit wall_seconds is '9', expected a number"),
        ({"seconds": 9}, "unknown limit 'seconds', expected one of wall_seconds"),
    ],
)
def test_an_unenforceable_limit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="limit") as refused:
        container_limits.with_changes(changes)
    assert str(refused.value).startswith(message)


def test_unset_limits_are_the_operators() -> None:
    changed = container_limits.with_changes({"cpus": 0.5})
    assert (changed.cpus, changed.wall_seconds) == (0.5, container_limits.defaults().wall_seconds)
