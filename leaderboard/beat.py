"""The process `beat`, which runs the sweeps itself: a busy worker or an unavailable broker does not delay them."""

import os
import signal

# A step that waits for a lock would hold up its rows: it is tried again at the next sweep.
os.environ.setdefault("HOLDOUT_DATABASE_LOCK_SECONDS", "5")

from django.conf import settings

from leaderboard import jobs
from leaderboard.operations import periodic, stored_files

ENDING = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    """Run the steps of a sweep every SWEEP_SECONDS, until SIGTERM or SIGINT."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    stored_files.report_missing()
    steps = jobs.steps()
    periodic.run(steps, seconds=settings.SWEEP_SECONDS, wait=lambda seconds: bool(signal.sigtimedwait(ENDING, seconds)))


if __name__ == "__main__":
    main()
