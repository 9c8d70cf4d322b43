"""Periodic maintenance: requests status reports of container workers, and deletes abandoned uploads and images."""

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
    """Request new status reports from workers whose last one is outdated, and delete very old reports.

    Also delete chunked uploads that got no chunk for 2 days, and images that nobody submitted within 2 days; return the
    number of these uploads and images.
    """
    at = db_clock.read()
    _ask_workers(at)
    WorkerReport.objects.filter(seen_at__lt=at - FORGOTTEN_AFTER).delete()
    return image_uploads.forget_old() + chunked_upload.delete_idle(RawUpload) + image_files.delete_old()


def _ask_workers(at: datetime) -> None:
    """Request a new status report from a worker of each queue that has an outdated report. at: now."""
    outdated = WorkerReport.objects.filter(seen_at__lt=at - POLL_SECONDS, seen_at__gt=at - GONE_AFTER)
    outdated = outdated.exclude(queue__in=worker_status.SELF_REPORTING)
    for queue in outdated.order_by("queue").values_list("queue", flat=True).distinct():
        workers.enqueue_report(queue)
