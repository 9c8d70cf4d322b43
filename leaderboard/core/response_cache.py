"""Response cache: rendered responses, shared by all processes through Django's cache (Redis if configured).

There are SLOTS slots, each for one response. The address of a response determines its slot, in which it replaces any
other response. So responses cannot fill Django's cache, which also holds the counters that limit log-ins. What takes
long to count for a board is in as many slots beside them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Callable
from typing import TypeVar, cast

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse

T = TypeVar("T")
Rendered = tuple[bytes, dict[str, str]]
"""Content and headers of a response."""
log = structlog.get_logger(__name__)
SLOTS = 64
MOST_BYTES = 1_000_000
"""Maximum size of a cached response in bytes; larger responses are rare and not cached."""
LONGEST_SECONDS = 3600
"""A response is rendered again after this time. Restoring a backup may bring back a tag with other content."""
RETRY_SECONDS = 10
"""Pause after an error of the cache, in which this process renders every response."""


class _Pause:
    """Pause after an error of the cache. end: time at which the pause ends, in seconds of `time.monotonic`."""

    end = 0.0


_pause = _Pause()


def get_or_render(tag: str, address: str, render: Callable[[], HttpResponse]) -> HttpResponse:
    """Return the cached response with this address and tag; if there is none, return `render()` and cache it.

    tag: text that changes whenever the response changes, such as an ETag. address: everything in the request on which
    the response depends, which must not include the user. Only a response with status 200, without cookies and of at
    most MOST_BYTES is cached, with its headers; none is if settings.CACHES_RESPONSES is off.
    """

    def rendered() -> Rendered | HttpResponse:
        response = render()
        if isinstance(response, SimpleTemplateResponse):  # includes REST framework's responses
            response = response.render()
        if response.status_code != 200 or response.cookies or len(response.content) > MOST_BYTES:
            return response
        return response.content, dict(response.items())

    answer = get_or_make("response", tag, address, rendered, keeps=lambda made: isinstance(made, tuple))
    return HttpResponse(answer[0], headers=answer[1]) if isinstance(answer, tuple) else answer


def get_or_make(
    kind: str, tag: str, address: str, make: Callable[[], T], keeps: Callable[[T], bool] = lambda made: True
) -> T:
    """Return the cached value with this address and tag; if there is none, return `make()`.

    kind: each kind of values has its own slots. tag, address: as for `get_or_render`. keeps: returns True for a value
    that is to be cached.
    """
    if not settings.CACHES_RESPONSES:
        return make()
    slot = f"{kind}-{int(hashlib.sha256(address.encode()).hexdigest(), 16) % SLOTS}"
    key = (_site_digest(), tag, address)
    stored = or_none(lambda: cache.get(slot))
    if isinstance(stored, tuple) and stored[0] == key:
        return cast("T", stored[1])
    made = make()
    if keeps(made):
        or_none(lambda: cache.set(slot, (key, made), LONGEST_SECONDS))
    return made


def or_none(use: Callable[[], object]) -> object:
    """Return `use()`, a function that reads or writes Django's cache; None if it raises an exception.

    After an exception, returns None for RETRY_SECONDS without calling `use`: pages must not depend on the cache.
    """
    if time.monotonic() < _pause.end:
        return None
    try:
        return use()
    except Exception as error:  # noqa: BLE001  the cache may be any server
        _pause.end = time.monotonic() + RETRY_SECONDS
        log.warning("response_cache_unavailable", error=type(error).__name__)
        return None


@functools.cache
def _site_digest() -> str:
    """Return a digest of the secret key and the variables HOLDOUT_*: with other settings, responses differ."""
    ours = sorted((name, value) for name, value in os.environ.items() if name.startswith("HOLDOUT_"))
    return hashlib.sha256(repr((settings.SECRET_KEY, ours)).encode()).hexdigest()
