"""Exception handler of the API. An error response is a JSON object as in `leaderboard.core.api.problem_details`.

For invalid parameters it also has "fields", and for problems in a file "problems" and "more".
"""

from __future__ import annotations

import math
import uuid
from functools import partial
from typing import Any, cast

import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.views import set_rollback

from leaderboard.core import saved
from leaderboard.core.api import problem_details
from leaderboard.core.failures import failure_of
from leaderboard.core.logs import traceback_locations
from leaderboard.core.refusal import NotFound, Refused

log = structlog.get_logger(__name__)

NOT_FOUND = "Not found, or you do not have permission to see it."


class LengthRequired(exceptions.APIException):
    status_code = 411
    default_code = "length_required"
    default_detail = "The request has no Content-Length header; send one, not a chunked body."


class TooLarge(exceptions.APIException):
    status_code = 413
    default_code = "too_large"

    def __init__(self) -> None:
        super().__init__(f"The upload is larger than {settings.MAX_UPLOAD_BYTES // 1_000_000} MB, the maximum.")


class Interrupted(exceptions.APIException):
    status_code = 400
    default_code = "upload_interrupted"
    default_detail = "The upload ended before its declared length. Nothing was submitted."


def handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Return the error response for an exception. This is Django REST framework's EXCEPTION_HANDLER.

    Unexpected exceptions are logged and become a 500; in debug mode None is returned, so that Django raises them.
    """
    set_rollback()
    request: HttpRequest = context["request"]
    if (response := saved.response_after(request, error)) is not None:
        return cast(HttpResponse, response)
    respond = partial(answer, request)
    match error:
        case Refused():
            return _refused(request, error)
        case exceptions.ValidationError():
            return _invalid(request, error)
        case NotFound():
            return respond(404, "not_found", str(error))
        case Http404() | exceptions.NotFound():
            return respond(404, "not_found", NOT_FOUND)
        case PermissionDenied():
            return respond(403, "permission_denied", "You do not have permission to do this.")
        case exceptions.APIException():
            return _of_framework(request, error)
        case RequestDataTooBig():
            return respond(413, "too_large", f"The body is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes.")
        case UnreadablePostError():
            return _of_framework(request, Interrupted())
        case SuspiciousOperation() | MultiPartParserError() | RecursionError():
            return respond(400, "bad_request", "The request could not be read.")
    if failure := failure_of(request, error):
        response = answer(request, failure.status, failure.code, failure.message)
        if failure.retry is not None:
            response["Retry-After"] = str(failure.retry)
        return response
    return None if settings.DEBUG else _broken(request, error)


def answer(request: HttpRequest, status: int, code: str, message: str, **more: Any) -> HttpResponse:
    """Return an error response. more: further members of its JSON object."""
    return problem_details.response(request, status, code, message, **more)


def _refused(request: HttpRequest, refusal: Refused) -> HttpResponse:
    code = refusal.code
    lines = {"problems": refusal.problems, "more": refusal.more} if refusal.problems else {}
    response = answer(request, code.status, code.text, refusal.message, **lines)
    if refusal.retry_at is not None:
        response["Retry-After"] = str(max(1, math.ceil((refusal.retry_at - timezone.now()).total_seconds())))
    return response


def _invalid(request: HttpRequest, error: exceptions.ValidationError) -> HttpResponse:
    detail = error.detail
    if not isinstance(detail, dict):
        return answer(request, 400, "invalid", " ".join(str(line) for line in detail))
    fields = {name: [str(line) for line in _lines(lines)] for name, lines in detail.items()}
    message = "; ".join(f"{name}: {' '.join(lines)}" for name, lines in fields.items())
    return answer(request, 400, "invalid", message, fields=fields)


def _lines(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [line for lines in value.values() for line in _lines(lines)]
    return list(value) if isinstance(value, list) else [value]


def _of_framework(request: HttpRequest, error: exceptions.APIException) -> HttpResponse:
    codes = error.get_codes()
    code = codes if isinstance(codes, str) else "error"
    response = answer(request, error.status_code, code, str(error.detail))
    if scheme := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = scheme
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(int(wait) + 1)
    return response


def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    """Log an unexpected error and return a 500.

    Only the error's type and traceback locations are logged, because its text may quote a file.
    """
    number = uuid.uuid4().hex[:12]
    log.error("api_failed", number=number, error=type(error).__name__, at=traceback_locations(error.__traceback__))
    return answer(request, 500, "server_error", f"Internal server error, logged as number {number}.")
