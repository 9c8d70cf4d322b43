"""Checks of forms with uploaded files: of the size before a form is received, of completeness after it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.uploads import FORM_BYTES, received_whole
from leaderboard.core.web import error_pages


def body_limit_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that refuses forms whose Content-Length is over the limit, before anything reads them.

    The web server does not receive a body over `leaderboard.core.uploads.max_body_bytes`, so views could not read such
    a form. Users who are not logged in cannot send files and are redirected to the log-in page: their session has
    probably ended. Forms under /accounts/ have no files, and a smaller limit. The API checks its requests itself.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        size = int(announced) if announced.isdecimal() else 0
        if size > settings.DATA_UPLOAD_MAX_MEMORY_SIZE and not request.path.startswith("/api/"):
            is_upload = not request.path.startswith("/accounts/")
            if is_upload and not request.user.is_authenticated:
                return redirect_to_login(request.path)
            if not is_upload or size > settings.MAX_UPLOAD_BYTES + FORM_BYTES:
                return error_pages.bad_request(request, RequestDataTooBig())
        return get_response(request)

    return middleware


def check_upload(request: HttpRequest) -> None:
    """Check that the uploaded files of a POST request were received completely; ignore other methods.

    Raises Refused TOO_LARGE if an upload was stopped at the size limit, Refused as `disk.refusal_of` if it was stopped
    because the disk is full or cannot be written, and BadRequest if the request's body is shorter than its
    Content-Length.
    """
    if request.method != "POST":
        return
    if "holdout.upload_too_large" in request.META:
        limit = settings.MAX_UPLOAD_BYTES // 1_000_000
        raise Refused(Code.TOO_LARGE, f"The upload was stopped at {limit} MB, the maximum file size.")
    if "holdout.refused" in request.META:
        raise request.META["holdout.refused"]
    if not received_whole(request):
        raise BadRequest("the request's body is shorter than its Content-Length; send it again")
