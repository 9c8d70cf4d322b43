"""Periodic maintenance besides background work: request workers' reports, and delete abandoned uploads."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from leaderboard.containers.actions import image_files, image_uploads, workers
from leaderboard.core import chunked_upload
from leaderboard.models import RawUpload, WorkerReport

POLL_SECONDS = timedelta(seconds=30)
GONE_AFTER = timedelta(minutes=10)
"""A worker that was silent for so long is no longer polled: its queue would only grow."""


def sweep() -> int:
    """Poll workers whose reports are old, and delete abandoned uploads and unused images; return the number of rows."""
    _ask_workers(timezone.now())
    return image_uploads.forget_old() + chunked_upload.delete_idle(RawUpload) + image_files.delete_unused()


def _ask_workers(at: datetime) -> None:
    """Request a new report where the last one is old."""
    outdated = WorkerReport.objects.filter(seen_at__lt=at - POLL_SECONDS, seen_at__gt=at - GONE_AFTER)
    for queue in outdated.order_by("queue").values_list("queue", flat=True).distinct():
        workers.enqueue_report(queue)
