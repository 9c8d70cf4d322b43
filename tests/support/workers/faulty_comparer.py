"""A worker that stops dead with a board's comparisons in its hands, for a test that kills it there.

Run as `celery -A tests.support.workers.faulty_comparer worker`, with HOLD_FILE a file that appears when it has computed
the last pair and stored nothing of it.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from leaderboard import jobs
from leaderboard.comparisons.actions import rank_ranges

app = jobs.app


def hold(*_: Any, **__: Any) -> None:
    Path(os.environ["HOLD_FILE"]).touch()
    while True:
        signal.pause()


rank_ranges._store = hold
