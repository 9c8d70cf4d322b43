"""Request ids: in each response, in all log lines of its request, and in messages that the request sends to workers."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from structlog.contextvars import bind_contextvars, clear_contextvars

HEADER = "X-Request-ID"
WELL_FORMED = re.compile(r"[A-Za-z0-9-]{16,64}")


def request_id_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that gives each request an id: that of the header X-Request-ID, or a new random one.

    The header is used only if the site is behind a proxy (HOLDOUT_PROXY) and its value is well-formed. Without a proxy
    it comes from the client, who could choose the id of somebody else's request.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get(HEADER, "") if settings.IS_BEHIND_PROXY else ""
        identifier = sent if WELL_FORMED.fullmatch(sent) else uuid4().hex
        # Not unbound at the end: Django logs responses such as 404 after the last middleware. The next request of this
        # thread binds its own.
        clear_contextvars()
        bind_contextvars(request_id=identifier)
        response = get_response(request)
        response.headers[HEADER] = identifier
        return response

    return middleware
