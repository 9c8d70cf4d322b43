"""Stops a worker at a point, for tests that kill it there; creates HOLD_FILE when the point is reached."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any


def hold(*_: Any, **__: Any) -> None:
    Path(os.environ["HOLD_FILE"]).touch()
    while True:
        signal.pause()


def after(function: Any) -> Any:
    def wrapped(*args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs)
        hold()

    return wrapped
