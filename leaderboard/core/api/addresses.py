"""Absolute addresses in answers."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.reverse import reverse


def of(request: Request, name: str, *args: Any) -> str:
    """The address of a URL name, as the client would type it."""
    return str(reverse(name, args=args, request=request))
