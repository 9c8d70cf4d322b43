"""Response cache: rendered responses, shared by all processes through Django's cache (Redis if configured).

There are SLOTS slots, each for one response. The address of a response determines its slot, in which it replaces any
other response. So responses cannot fill Django's cache, which also holds the counters that limit log-ins.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Callable

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse

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
    if not settings.CACHES_RESPONSES:
        return render()
    slot = f"response-{int(hashlib.sha256(address.encode()).hexdigest(), 16) % SLOTS}"
    key = (_site_digest(), tag, address)
    stored = or_none(lambda: cache.get(slot))
    if isinstance(stored, tuple) and stored[0] == key:
        _, content, headers = stored
        return HttpResponse(content, headers=headers)
    response = render()
    if isinstance(response, SimpleTemplateResponse):  # includes REST framework's responses
        response = response.render()
    if response.status_code == 200 and not response.cookies and len(response.content) <= MOST_BYTES:
        value = (key, response.content, dict(response.items()))
        or_none(lambda: cache.set(slot, value, LONGEST_SECONDS))
    return response


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
