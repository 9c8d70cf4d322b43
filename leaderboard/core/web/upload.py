"""Checks of uploads in forms."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest

from leaderboard.core import disk
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import received_whole


def check_upload(request: HttpRequest) -> None:
    """Check that the uploads of a POST request were received completely.

    Raises Refused TOO_LARGE if an upload was stopped at the size limit, Refused DISK_FULL if it was stopped by a full
    disk, and BadRequest if the request's body is shorter than its Content-Length.
    """
    if request.method != "POST":
        return
    if "holdout.upload_too_large" in request.META:
        limit = settings.MAX_UPLOAD_BYTES // 1_000_000
        raise Refused(Code.TOO_LARGE, f"The upload was stopped at {limit} MB, the maximum file size.")
    if "holdout.disk_full" in request.META:
        raise disk.full_refusal()
    if not received_whole(request):
        raise BadRequest("the request's body is shorter than its Content-Length; send it again")
