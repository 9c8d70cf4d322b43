"""What a sweep does besides background work: asks workers for reports, and removes uploads that nobody finished."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from leaderboard.containers.actions import image_files, image_uploads, workers
from leaderboard.core import chunked_upload
from leaderboard.models import RawUpload, WorkerReport

ASKED_EVERY = timedelta(seconds=30)
GONE_AFTER = timedelta(minutes=10)
"""A worker that was silent for so long is asked no more: nobody would empty its queue."""


def sweep() -> int:
    """Ask workers whose reports age, and remove what nobody sent to its end or uses; how many rows."""
    _ask_workers(timezone.now())
    return image_uploads.forget_old() + chunked_upload.forget_old(RawUpload) + image_files.forget_unused()


def _ask_workers(at: datetime) -> None:
    """Ask for a new report where the last one ages."""
    aging = WorkerReport.objects.filter(seen_at__lt=at - ASKED_EVERY, seen_at__gt=at - GONE_AFTER)
    for queue in aging.order_by("queue").values_list("queue", flat=True).distinct():
        workers.enqueue_report(queue)
