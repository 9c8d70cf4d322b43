"""Counts and durations of requests by view, for `/metrics`."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from leaderboard.core import process_metrics

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def request_metrics_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Return a middleware that counts each request and records its duration."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = get_response(request)
        view = view_label(request)
        method = request.method if request.method in METHODS else "other"
        process_metrics.REQUESTS.labels(view, method, f"{response.status_code // 100}xx").inc()
        process_metrics.REQUEST_SECONDS.labels(view).observe(time.perf_counter() - began)
        return response

    return middleware


def view_label(request: HttpRequest) -> str:
    """Return the name of the request's view, as a metric label: one of a fixed set of values.

    All views of the admin have the label `admin`, and paths without a view `health`, `static` or `none`.
    """
    match = request.resolver_match
    if match is not None:
        return "admin" if match.namespace == "admin" else match.view_name
    if request.path.startswith("/health/"):
        return "health"
    return "static" if request.path.startswith(settings.STATIC_URL) else "none"
