"""Template context processor with settings of the site that templates of several features use."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Return template variables: `base_url`, `sends_mail`, `site_contact` (the operator's) and `login_providers`.

    sends_mail: whether the server sends mail. site_contact: empty if there is none.
    """
    return {
        "base_url": settings.BASE_URL,
        "sends_mail": settings.SENDS_MAIL,
        "site_contact": settings.CONTACT,
        "login_providers": settings.LOGIN_PROVIDERS,
    }
