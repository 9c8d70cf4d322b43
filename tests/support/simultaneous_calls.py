"""Simultaneous calls, each in a thread with its own database connection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from leaderboard.core.refusal import Refused


def together(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return the result of each call: its value, or the code of its refusal."""
    barrier = threading.Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except Refused as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))
