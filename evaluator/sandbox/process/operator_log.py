"""The server's log: one short JSON object per line on standard error, rate-limited per minute."""

from __future__ import annotations

import json
import os
import time

MOST_LINE = 2000
MOST_A_MINUTE = 120


class OperatorLog:
    """The operator's log: a call writes one line, with an event's name and its fields.

    A call never fails. Lines that cannot be written are dropped, and so are lines after the first MOST_A_MINUTE of a
    minute.
    """

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
            event, fields = "log_suppressed", {"until": "end of this minute"}
        truncated = {name: value[:MOST_LINE] if isinstance(value, str) else value for name, value in fields.items()}
        line = json.dumps({"time": round(time.time(), 3), "event": event, **truncated}, default=str)
        try:
            os.write(self._descriptor, line.encode() + b"\n")
        except OSError:
            return
