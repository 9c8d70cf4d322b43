"""Stops a worker at a point, for tests that kill it there; creates HOLD_FILE when the point is reached."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any


def hold(*_: Any, **__: Any) -> None:
    Path(os.environ["HOLD_FILE"]).touch()
    while True:
        signal.pause()


def freeze() -> None:
    """Stop all threads of this process until it is sent SIGCONT."""
    Path(os.environ["HOLD_FILE"]).touch()
    os.kill(os.getpid(), signal.SIGSTOP)


def after(function: Any, then: Callable[[], None] = hold) -> Any:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        then()
        return result

    return wrapped
