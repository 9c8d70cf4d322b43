"""Periodic maintenance: request status reports of container workers, and delete abandoned uploads and unused images."""

from __future__ import annotations

from datetime import datetime, timedelta

from leaderboard.containers.actions import image_files, image_uploads, workers
from leaderboard.core import chunked_upload, db_clock
from leaderboard.models import RawUpload, WorkerReport
from leaderboard.work_queue import worker_status

POLL_SECONDS = timedelta(seconds=30)
"""Age from which a worker's last report is outdated, so that a new one is requested."""
GONE_AFTER = timedelta(minutes=10)
"""Age of the last report from which no more reports are requested: nobody would read the messages in the queue."""


FORGOTTEN_AFTER = timedelta(days=7)
"""Age from which a report is deleted: containers that are created again have new host names."""


def sweep() -> int:
    """Request outdated reports again, and delete chunked uploads idle for 2 days and images not submitted in 2 days.

    Returns the number of deleted uploads and images.
    """
    at = db_clock.read()
    _ask_workers(at)
    WorkerReport.objects.filter(seen_at__lt=at - FORGOTTEN_AFTER).delete()
    return image_uploads.forget_old() + chunked_upload.delete_idle(RawUpload) + image_files.delete_unused()


def _ask_workers(at: datetime) -> None:
    """Request a new report from the workers of each queue that has an outdated report."""
    outdated = WorkerReport.objects.filter(seen_at__lt=at - POLL_SECONDS, seen_at__gt=at - GONE_AFTER)
    outdated = outdated.exclude(queue__in=worker_status.SELF_REPORTING)
    for queue in outdated.order_by("queue").values_list("queue", flat=True).distinct():
        workers.enqueue_report(queue)
