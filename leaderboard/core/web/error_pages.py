"""Error responses: problem details for API paths, HTML pages otherwise.

They show the message of a known cause, such as a full disk, and otherwise nothing beyond the HTTP status.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token

from leaderboard.core import db_locks, saved
from leaderboard.core.api import problem_details
from leaderboard.core.failures import failure_of

MESSAGES = {
    400: ("bad_request", "The request could not be understood."),
    403: ("permission_denied", "You do not have permission for this."),
    404: ("not_found", "There is nothing at this address."),
    413: ("too_large", "The request is too large."),
    500: ("server_error", "Internal server error. It has been logged."),
}


def _with_token(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view so that its page has a CSRF token for its forms, without reading the request's body.

    Django's `requires_csrf_token` reads the body. If an unreadable body caused the error, that would fail again, with a
    500.
    """
    page = requires_csrf_token(view)

    @functools.wraps(view)
    def wrapper(request: HttpRequest, exception: Exception | None = None, **more: Any) -> HttpResponse:
        request.csrf_processing_done = True  # type: ignore[attr-defined]  # makes Django skip the check
        return page(request, exception, **more)

    return wrapper


@_with_token
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the page for a 400; for a 413 if the form is too large, for which Django also calls this handler."""
    return _answer(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


@_with_token
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 403)


@_with_token
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 404)


def too_many(request: HttpRequest) -> HttpResponse:
    """Return the page for a 429 of django-allauth's rate limits. Retry-After is 60 s, the shortest period of these."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = "60"
    return response


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Return the page for an unexpected exception, which Django is handling when it calls this function.

    It is the response that the view kept when its work was committed (`saved.keep`), if it did. Otherwise its status is
    that of `failures.failure_of`, such as 503 with Retry-After for a transient error of the database, or 500. The page
    is rendered without the request, because loading the request's user may have failed.
    """
    error = sys.exception()
    if (least := saved.response_after(request, error)) is not None:
        return least
    if failure := failure_of(request, error):
        response = _with_message(request, failure.status, failure.code, failure.message)
        if failure.retry is not None:
            response["Retry-After"] = str(failure.retry)
        return response
    if _is_program(request):
        return problem_details.response(request, 500, *MESSAGES[500])
    return HttpResponse(loader.get_template("500.html").render({}), status=500)


def unavailable(request: HttpRequest, code: str, message: str) -> HttpResponse:
    """Return a 503 with Retry-After. code, message: of the problem details of API paths; pages show the message."""
    response = _with_message(request, 503, code, message)
    response["Retry-After"] = str(db_locks.RETRY_AFTER)
    return response


def _with_message(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    if _is_program(request):
        return problem_details.response(request, status, code, message)
    return HttpResponse(loader.get_template(f"{status}.html").render({"message": message}), status=status)


def _answer(request: HttpRequest, status: int) -> HttpResponse:
    if _is_program(request):
        return problem_details.response(request, status, *MESSAGES[status])
    context: dict[str, Any] = {"status": status, "message": MESSAGES[status][1].rstrip(".")}
    return render(request, f"{status}.html", context, status=status)


def _is_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
