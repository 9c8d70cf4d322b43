"""Response cache: the rendered responses that a process used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from django.conf import settings
from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse

MAX_ENTRIES = 32
MOST_BYTES = 1_000_000
"""Maximum size of a cached response in bytes; larger responses are rare and not cached."""

_cache: OrderedDict[Hashable, tuple[bytes, dict[str, str]]] = OrderedDict()
_lock = Lock()


def get_or_render(key: Hashable, render: Callable[[], HttpResponse]) -> HttpResponse:
    """Return the response cached under `key`; if there is none, return the response of `render()`.

    Responses with status 200 and at most MOST_BYTES are cached with their headers; others are not cached.
    """
    if not settings.CACHES_RESPONSES:
        return render()
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            content, headers = _cache[key]
            return HttpResponse(content, headers=headers)
    response = render()
    if isinstance(response, SimpleTemplateResponse):  # includes REST framework's responses
        response = response.render()
    if response.status_code == 200 and len(response.content) <= MOST_BYTES:
        with _lock:
            _cache[key] = response.content, dict(response.items())
            while len(_cache) > MAX_ENTRIES:
                _cache.popitem(last=False)
    return response
