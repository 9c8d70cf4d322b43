"""Error responses of the API as in RFC 9457: `application/problem+json`, with the additional keys `code`, `message`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from structlog.contextvars import get_contextvars

MEDIA_TYPE = "application/problem+json"
FORMER_MEDIA_TYPE = "application/json"
"""Media type for clients whose Accept header has it, but neither MEDIA_TYPE nor a range; the body is the same."""
STATUSES = {413: "Content Too Large", 422: "Unprocessable Content", 460: "Checksum Mismatch"}
"""Titles of statuses whose names in Python 3.11 are former ones (RFC 9110), and of the one that only tus has."""


def title(status: int) -> str:
    """Return the reason phrase of an HTTP status code, such as "Not Found" for 404."""
    return STATUSES.get(status) or HTTPStatus(status).phrase


def content(status: int, code: str, message: str, /, *, path: str = "", **more: Any) -> dict[str, Any]:
    """Return the JSON object of an error response.

    code: the error code under its current name, even if it was renamed; the member `type` is the URL of its
    documentation. path: of the request. The member `instance` has path and request id; if either is empty, it is left
    out. more: further members, which override others of the same name: for clients of the previous release, `code` may
    be a code's former name.
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
    """Return the HTTP response of `content(status, code, message, path=request.path, **more)`.

    Its media type is application/json if the client accepts that, but neither problem details nor a wildcard.
    """
    accepted = request.headers.get("Accept", "")
    is_former = FORMER_MEDIA_TYPE in accepted and MEDIA_TYPE not in accepted and "*" not in accepted
    body = content(status, code, message, path=request.path, **more)
    result = JsonResponse(body, status=status, content_type=FORMER_MEDIA_TYPE if is_former else MEDIA_TYPE)
    patch_vary_headers(result, ["Accept"])
    return result
