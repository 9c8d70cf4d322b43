"""Exception handler of the API. An error response is the JSON object {"code", "message"}.

Invalid parameters add "fields", and problems in a file add "problems" and "more".
"""

from __future__ import annotations

import math
import uuid
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from evaluator.tasks.registry import MissingTaskError
from leaderboard.core import db_locks, disk
from leaderboard.core.api import renamed
from leaderboard.core.logs import traceback_locations
from leaderboard.core.refusal import NotFound, Refused
from leaderboard.core.store_errors import StoreUnavailableError

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


def handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the error response for an exception. This is Django REST framework's EXCEPTION_HANDLER.

    Unexpected exceptions are logged and become a 500; in debug mode None is returned, so that Django raises them.
    """
    set_rollback()
    match error:
        case Refused():
            return _refused(error)
        case exceptions.ValidationError():
            return _invalid(error)
        case NotFound():
            return _answer(404, "not_found", str(error))
        case Http404() | exceptions.NotFound():
            return _answer(404, "not_found", NOT_FOUND)
        case StoreUnavailableError():
            return _unavailable("store_unavailable", str(error))
        case MissingTaskError():
            return _answer(503, "task_missing", str(error))
        case PermissionDenied():
            return _answer(403, "permission_denied", "You do not have permission to do this.")
        case exceptions.APIException():
            return _of_framework(error)
        case RequestDataTooBig():
            return _answer(413, "too_large", f"The body is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes.")
        case UnreadablePostError():
            return _of_framework(Interrupted())
        case SuspiciousOperation() | MultiPartParserError() | RecursionError():
            return _answer(400, "bad_request", "The request could not be read.")
    if message := db_locks.transient_message(error):
        return _unavailable("busy", message)
    if disk.is_full_error(error):
        return _refused(disk.full_refusal())
    return None if settings.DEBUG else _broken(error)


def _answer(status: int, code: str, message: str, **more: Any) -> Response:
    return Response({**renamed.code_fields(code), "message": message, **more}, status=status)


def _unavailable(code: str, message: str) -> Response:
    response = _answer(503, code, message)
    response["Retry-After"] = str(db_locks.RETRY_AFTER)
    return response


def _refused(refusal: Refused) -> Response:
    code = refusal.code
    lines = {"problems": refusal.problems, "more": refusal.more} if refusal.problems else {}
    response = _answer(code.status, code.text, refusal.message, **lines)
    if refusal.retry_at is not None:
        response["Retry-After"] = str(max(1, math.ceil((refusal.retry_at - timezone.now()).total_seconds())))
    return response


def _invalid(error: exceptions.ValidationError) -> Response:
    detail = error.detail
    if not isinstance(detail, dict):
        return _answer(400, "invalid", " ".join(str(line) for line in detail))
    fields = {name: [str(line) for line in _lines(lines)] for name, lines in detail.items()}
    message = "; ".join(f"{name}: {' '.join(lines)}" for name, lines in fields.items())
    return _answer(400, "invalid", message, fields=fields)


def _lines(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [line for lines in value.values() for line in _lines(lines)]
    return list(value) if isinstance(value, list) else [value]


def _of_framework(error: exceptions.APIException) -> Response:
    codes = error.get_codes()
    response = _answer(error.status_code, codes if isinstance(codes, str) else "error", str(error.detail))
    if scheme := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = scheme
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(int(wait) + 1)
    return response


def _broken(error: Exception) -> Response:
    """Log an unexpected error and return a 500.

    Only the error's type and traceback locations are logged, because its text may quote a file.
    """
    number = uuid.uuid4().hex[:12]
    log.error("api_failed", number=number, error=type(error).__name__, at=traceback_locations(error.__traceback__))
    return _answer(500, "server_error", f"Internal server error, logged as number {number}.")
