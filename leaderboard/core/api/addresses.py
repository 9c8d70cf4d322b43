"""Absolute URLs in API responses."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.reverse import reverse


def of(request: Request, name: str, *args: Any) -> str:
    """Return the absolute URL of a named URL pattern, with the host that the client requested."""
    return str(reverse(name, args=args, request=request))
