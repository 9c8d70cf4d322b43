"""Absolute URLs in API responses."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from rest_framework.request import Request

LOCAL = ("localhost", "127.0.0.1", "::1")


def site(request: Request) -> str:
    """Return the site's address, without a slash at its end: BASE_URL, and not the Host header, which clients choose.

    If BASE_URL is an address of this host only, it is what the client requested: forwarded ports have other numbers.
    """
    if urlsplit(settings.BASE_URL).hostname in LOCAL:
        return str(request.build_absolute_uri("/"))[:-1]
    return str(settings.BASE_URL)


def of(request: Request, name: str, *args: Any) -> str:
    """Return the absolute URL of a named URL pattern."""
    return site(request) + reverse(name, args=args)
