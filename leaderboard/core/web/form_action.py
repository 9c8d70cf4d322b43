"""Middleware that adds the configured log-in providers to the Content-Security-Policy of log-in pages.

Without that, browsers block the redirect of the log-in form to a provider.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

PAGES = {"account_login", "account_signup", "socialaccount_connections", "github_login", "openid_connect_login"}
"""URL names of the pages with buttons of providers. Browsers apply `form-action` to redirects of a form, too."""


def form_action_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Return a middleware that adds the log-in providers' origins to the CSP directive `form-action` of PAGES."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.resolver_match and request.resolver_match.url_name in PAGES:
            origins = sorted({origin for provider in settings.LOGIN_PROVIDERS for origin in provider.origins})
            response._csp_update = {"form-action": origins}  # type: ignore[attr-defined]
        return response

    return middleware
