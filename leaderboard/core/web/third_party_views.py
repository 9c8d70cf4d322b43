"""Malformed input to views of other packages, such as django-allauth's: a page with status 400 instead of a 500."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from typing import Any

import structlog
from django.db import DataError
from django.http import HttpRequest, HttpResponseBase

from leaderboard.core.logs import traceback_locations
from leaderboard.core.web import error_pages

log = structlog.get_logger(__name__)
PACKAGE = "leaderboard"
FOLDER = str(Path(__file__).resolve().parents[2])
INPUT_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    DataError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions that code raises which expects another form of its input."""


def third_party_views_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Any:
    """Return a middleware that answers 400 if a view of another package fails at the input of a request.

    It is logged as an error, with its place, as other failures are: it may still be a fault. Failures in code of the
    site, also in what such a view calls of it, and those of requests without any input stay a 500.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if not isinstance(exception, INPUT_ERRORS) or not _has_input(request) or _is_of_the_site(request, exception):
            return None
        log.error(
            "third_party_view_failed",
            kind=request.resolver_match.view_name if request.resolver_match else "",
            error=type(exception).__name__,
            at=traceback_locations(exception.__traceback__),
        )
        return error_pages.bad_request(request, exception)

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware


def _has_input(request: HttpRequest) -> bool:
    match = request.resolver_match
    return request.method not in ("GET", "HEAD") or bool(request.GET) or bool(match and match.kwargs)


def _is_of_the_site(request: HttpRequest, exception: Exception) -> bool:
    """Return whether code of the site is in the exception's traceback, which begins at the view."""
    view = request.resolver_match.func if request.resolver_match else None
    if view is None or view.__module__.partition(".")[0] == PACKAGE:
        return True
    return any(frame.f_code.co_filename.startswith(FOLDER) for frame, _ in walk_tb(exception.__traceback__))
