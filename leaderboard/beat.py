"""The process `beat`, which runs the sweeps itself: a busy worker or an unavailable broker does not delay them."""

import signal

from django.conf import settings

from leaderboard import jobs
from leaderboard.core import db_locks, db_schema
from leaderboard.operations import periodic, stored_files
from leaderboard.work_queue import process_reports

ENDING = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    """Run the steps of a sweep every SWEEP_SECONDS, until SIGTERM or SIGINT."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    # A step that waits for a lock would hold up its rows: it is tried again at the next sweep.
    db_locks.wait_briefly()
    stored_files.report_missing()
    steps = jobs.steps()
    process_reports.report_periodically("beat")
    periodic.run(
        steps,
        seconds=settings.SWEEP_SECONDS,
        wait=lambda seconds: bool(signal.sigtimedwait(ENDING, seconds)),
        # Otherwise `beat` of the release that the database was migrated to sweeps.
        is_ready=db_schema.fits,
    )


if __name__ == "__main__":
    main()
