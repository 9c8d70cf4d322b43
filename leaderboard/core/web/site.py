"""Context processor with facts about the site that templates of several features use."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Return whether the server sends mail, the operator's public contact (empty: none), and the log-in providers."""
    return {
        "sends_mail": settings.SENDS_MAIL,
        "site_contact": settings.CONTACT,
        "login_providers": settings.LOGIN_PROVIDERS,
    }
