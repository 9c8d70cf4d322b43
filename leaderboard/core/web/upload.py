"""Checks of uploads in forms."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import received_whole


def check_upload(request: HttpRequest) -> None:
    """Raise Refused TOO_LARGE for an upload that was cut at the size limit, BadRequest for a truncated one."""
    if request.method != "POST":
        return
    if "holdout.upload_too_large" in request.META:
        limit = settings.MAX_UPLOAD_BYTES // 1_000_000
        raise Refused(Code.TOO_LARGE, f"The upload was stopped at {limit} MB, the maximum file size.")
    if not received_whole(request):
        raise BadRequest("the upload ended early")
