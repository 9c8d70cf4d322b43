"""Private pages are stored in no cache, neither in the browser's nor in a proxy's."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers, patch_cache_control


def private_pages_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that adds `Cache-Control: no-store, private` to private pages.

    These are the responses to requests with a session cookie, and the responses that set a cookie, as forms with a CSRF
    token do. With an ETag it is `private, no-cache`: browsers keep the page, and ask whether it still holds. A response
    that already has Cache-Control is not changed: its view decides how it is cached.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        is_private = settings.SESSION_COOKIE_NAME in request.COOKIES or response.cookies
        if is_private and not response.has_header("Cache-Control"):
            if response.has_header("ETag"):
                patch_cache_control(response, private=True, no_cache=True)
            else:
                add_never_cache_headers(response)
        return response

    return middleware
