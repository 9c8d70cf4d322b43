"""Reauthentication: what outlives a session, or changes who gets in, needs a recent log-in or password.

django-allauth asks, on its own pages: for the password, a second factor, or a log-in at another provider.
`leaderboard/accounts/web/adapter.py` decides what is recent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required as allauth_decorator
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY, is_reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode
from rest_framework.request import Request

from leaderboard.core.refusal import Code, Refused

View = Callable[..., HttpResponseBase]


def reauthentication_required(view: View, *, of: Callable[[HttpRequest], bool] | None = None) -> View:
    """Decorate a view of logged-in users, which asks them to confirm who they are unless they did so recently.

    of: returns whether a request needs this; None: every request does. Afterwards the request is made again.
    """

    def is_asked(request: HttpRequest) -> bool:
        return request.user.is_authenticated and (of is None or of(request))

    decorated: View = allauth_decorator(view, enabled=is_asked)
    return decorated


def is_change(request: HttpRequest) -> bool:
    """Return whether a request may change something: pages that only show something do not ask."""
    return request.method not in ("GET", "HEAD", "OPTIONS")


def reauthentication_required_to_change(view: View) -> View:
    """Decorate a view which asks, as `reauthentication_required`, for requests that may change something."""
    return reauthentication_required(view, of=is_change)


def check_reauthenticated(request: Request, *, page: str) -> None:
    """Raise Refused NOT_CONFIRMED unless an API request is made in a session that was confirmed recently.

    A token is no such confirmation: what somebody does with a stolen one must end when it is revoked. page: name of the
    URL of the page on which the user can do the same.
    """
    try:
        is_confirmed = request.auth is None and not is_reauthentication_required(request._request, app="leaderboard")
    except ReauthenticationRequired:
        is_confirmed = False
    if not is_confirmed:
        raise Refused(
            Code.NOT_CONFIRMED,
            "This needs your password, a passkey or a new log-in, which a token does not replace. Do it on the site: "
            f"{settings.BASE_URL}{reverse(page)}",
        )


def reauthentication_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Any:
    """Return a middleware that gives a session a new key before its user is asked.

    django-allauth stores the interrupted request in the session, and makes it again after the password was entered.
    With the same key, whoever has a copy of the session's cookie could store a request of their own there, which the
    user's password would then confirm.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if not isinstance(exception, ReauthenticationRequired) or not request.user.is_authenticated:
            return None
        request.session.pop(STATE_SESSION_KEY, None)
        request.session.cycle_key()
        if not hasattr(request, "sensitive_post_parameters"):
            return None  # django-allauth stores the request and redirects
        # Passwords and passphrases do not belong in the session: the form is shown again instead.
        page = get_adapter().get_reauthentication_methods(request.user)[0]["url"]
        return HttpResponseRedirect(f"{page}?{urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})}")

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware
