"""Answers that were made already, by what tells that they are still right: a few, in each process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from django.conf import settings
from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse

MOST = 32
MOST_BYTES = 1_000_000
"""Of one answer: what is larger is rare, and made anew."""

_kept: OrderedDict[Hashable, tuple[bytes, dict[str, str]]] = OrderedDict()
_lock = Lock()


def answer(key: Hashable, made: Callable[[], HttpResponse]) -> HttpResponse:
    """What was made for the key before, else what is made now. Only whole answers are kept, with their own headers."""
    if not settings.KEEPS_ANSWERS:
        return made()
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            content, headers = _kept[key]
            return HttpResponse(content, headers=headers)
    response = made()
    if isinstance(response, SimpleTemplateResponse):  # what the API answers, too, until it is rendered
        response = response.render()
    if response.status_code == 200 and len(response.content) <= MOST_BYTES:
        with _lock:
            _kept[key] = response.content, dict(response.items())
            while len(_kept) > MOST:
                _kept.popitem(last=False)
    return response
