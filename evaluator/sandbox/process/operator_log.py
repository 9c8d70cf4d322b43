"""The server's log: one JSON object a line on standard error, short, and so many a minute at most."""

from __future__ import annotations

import json
import os
import time

MOST_LINE = 2000
MOST_A_MINUTE = 120


class OperatorLog:
    """Never blocks a job's end for long and never fails: a log that cannot be written is dropped."""

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        self._minute = 0
        self._written = 0

    def __call__(self, event: str, **fields: object) -> None:
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._written = minute, 0
        self._written += 1
        if self._written > MOST_A_MINUTE:
            return
        if self._written == MOST_A_MINUTE:
            event, fields = "log_suppressed", {"until": "the minute is over"}
        cut = {name: value[:MOST_LINE] if isinstance(value, str) else value for name, value in fields.items()}
        line = json.dumps({"time": round(time.time(), 3), "event": event, **cut}, default=str)
        try:
            os.write(self._descriptor, line.encode() + b"\n")
        except OSError:
            return
