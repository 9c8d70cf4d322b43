"""A worker that stops before it stores a board's comparisons, for a test that kills it there.

Run `celery -A tests.support.workers.faulty_comparer worker`. It creates HOLD_FILE when it has computed the last pair
and stored none of it.
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
