"""The process `beat`, which runs the sweeps itself: a busy worker or an unavailable broker does not delay them."""

import os
import signal
from collections.abc import Callable
from functools import partial

# A step that waits for a lock would hold up its rows: it is tried again at the next sweep.
os.environ.setdefault("HOLDOUT_DATABASE_LOCK_SECONDS", "5")

from django.conf import settings

from leaderboard import jobs
from leaderboard.core import db_schema
from leaderboard.operations import periodic, stored_files
from leaderboard.work_queue import process_reports

ENDING = (signal.SIGTERM, signal.SIGINT)


def _unless_unfit(step: Callable[[], object]) -> None:
    """Call a step, unless the code does not fit the database; then the steps of another release's `beat` do it."""
    if db_schema.fits():
        step()


def main() -> None:
    """Run the steps of a sweep every SWEEP_SECONDS, until SIGTERM or SIGINT."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    stored_files.report_missing()
    steps = {name: partial(_unless_unfit, step) for name, step in jobs.steps().items()}
    process_reports.report_periodically("beat")
    periodic.run(steps, seconds=settings.SWEEP_SECONDS, wait=lambda seconds: bool(signal.sigtimedwait(ENDING, seconds)))


if __name__ == "__main__":
    main()
