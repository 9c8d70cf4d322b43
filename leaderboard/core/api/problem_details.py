"""Error responses of the API as in RFC 9457: `application/problem+json`, with the additional keys `code`, `message`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.encoding import escape_uri_path
from structlog.contextvars import get_contextvars

MEDIA_TYPE = "application/problem+json"
STATUSES = {413: "Content Too Large", 422: "Unprocessable Content", 460: "Checksum Mismatch"}
"""Titles of statuses whose names in Python 3.11 are former ones (RFC 9110), and of the one that only tus has."""


def title(status: int) -> str:
    """Return the reason phrase of an HTTP status code, such as "Not Found" for 404."""
    return STATUSES.get(status) or HTTPStatus(status).phrase


def content(status: int, code: str, message: str, /, *, path: str = "", **more: Any) -> dict[str, Any]:
    """Return the JSON object of an error response.

    code: the error code; the member `type` is the URL of its documentation. path: of the request. The member `instance`
    has path and request id; if either is empty, it is left out. more: further members.
    """
    request_id = get_contextvars().get("request_id")
    instance = {"instance": f"{escape_uri_path(path)}#{request_id}"} if path and request_id else {}
    return {
        "type": f"{settings.BASE_URL}{reverse('docs_page', args=['error-codes'])}#{code}",
        "title": title(status),
        "status": status,
        "detail": message,
        **instance,
        "code": code,
        "message": message,
        **more,
    }


def response(request: HttpRequest, status: int, code: str, message: str, /, **more: Any) -> JsonResponse:
    """Return the HTTP response of `content(status, code, message, path=request.path, **more)`."""
    body = content(status, code, message, path=request.path, **more)
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE)
