"""Error pages. Programs that ask the API get JSON; nobody is told more than the status says."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token

from evaluator.tasks.registry import MissingTaskError
from leaderboard.core import db_locks

MESSAGES = {
    400: ("bad_request", "The request could not be understood."),
    403: ("forbidden", "This is not for you to see or do."),
    404: ("not_found", "There is nothing at this address."),
    413: ("too_large", "What was sent is too large."),
    500: ("internal", "The server made an error. It has been logged."),
}


def _with_token(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For the forms that stand on every page: as `requires_csrf_token`, but what was sent is not read.

    A body that cannot be read is what brought the request here; to read it again would fail again, with a 500.
    """
    page = requires_csrf_token(view)

    @functools.wraps(view)
    def answered(request: HttpRequest, exception: Exception | None = None, **more: Any) -> HttpResponse:
        request.csrf_processing_done = True  # type: ignore[attr-defined]  # the sign by which Django asks no further
        return page(request, exception, **more)

    return answered


@_with_token
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django has no page of its own for a form that is too large, and brings it here."""
    return _answer(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


@_with_token
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 403)


@_with_token
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 404)


def too_many(request: HttpRequest) -> HttpResponse:
    """What allauth answers to an address that tried too often. It counts by the minute and by the hour."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = "60"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the request: whoever the person is may be what could not be found out.

    Django calls it while it handles the exception. A database that others hold is no error: 503, to be tried again. A
    benchmark whose task's package is missing has no pages until the operator installs it: 503 as well.
    """
    error = sys.exception()
    if db_locks.is_busy(error):
        return _unavailable(request, "busy", db_locks.MESSAGE)
    if isinstance(error, MissingTaskError):
        return _unavailable(request, "task_missing", str(error))
    if _is_program(request):
        return _json(500)
    return HttpResponse(loader.get_template("500.html").render({}), status=500)


def _unavailable(request: HttpRequest, code: str, message: str) -> HttpResponse:
    if _is_program(request):
        response: HttpResponse = JsonResponse({"code": code, "message": message}, status=503)
    else:
        response = HttpResponse(loader.get_template("503.html").render({"message": message}), status=503)
    response["Retry-After"] = str(db_locks.RETRY_AFTER)
    return response


def _answer(request: HttpRequest, status: int) -> HttpResponse:
    if _is_program(request):
        return _json(status)
    context: dict[str, Any] = {"status": status, "message": MESSAGES[status][1]}
    return render(request, f"{status}.html", context, status=status)


def _json(status: int) -> JsonResponse:
    code, message = MESSAGES[status]
    return JsonResponse({"code": code, "message": message}, status=status)


def _is_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
