"""Log-in of the `holdout-eval` command by a browser: the OAuth 2.0 device authorization grant (RFC 8628).

The command shows a code, a logged-in user enters the code on the site and allows the log-in, and the command gets an
API token like any other. Pending codes are in the cache; django-allauth checks them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from allauth.idp.oidc import app_settings
from allauth.idp.oidc.adapter import get_adapter
from allauth.idp.oidc.models import Client
from django.utils.crypto import constant_time_compare
from knox.models import AuthToken

from leaderboard.accounts.actions import tokens
from leaderboard.models import TokenDetails, User

CLIENT = "holdout-eval"
"""OAuth client id of the `holdout-eval` command, which is a public client: it has no secret."""


@dataclass(frozen=True)
class Issued:
    """An API token issued for a device code."""

    token: AuthToken
    secret: str
    scope: str


def begin(*, scope: str, page: str) -> dict[str, Any]:
    """Store a device code, and return the fields of the device authorization response (RFC 8628, section 3.2).

    scope: that of the API token which the command requests. page: address of the page on which users enter the code.
    """
    Client.objects.get_or_create(
        id=CLIENT,
        defaults={
            "name": "holdout-eval login",
            "secret": "",
            "type": Client.Type.PUBLIC,
            "grant_types": Client.GrantType.DEVICE_CODE,
            "scopes": "\n".join(TokenDetails.Scope.values),
            "response_types": "",
        },
    )
    user_code = get_adapter().generate_user_code()
    response = {
        "device_code": secrets.token_urlsafe(32),
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?code={user_code}",
        "expires_in": app_settings.DEVICE_CODE_EXPIRES_IN,
        "interval": app_settings.DEVICE_CODE_INTERVAL,
    }
    _codes().create(CLIENT, [scope], response)
    return response


def scope_of(device_code: str) -> str:
    """Return the scope that the command requested with a device code; "" if the code has expired."""
    codes = _codes()
    data = codes.cache.get(codes.cache_device_code_key(device_code))
    return str(data["scope"][0]) if data else ""


def decide(*, by: User, device_code: str, allow: bool) -> bool:
    """Allow or deny a log-in as the user `by`. Return False if the code has expired or was decided before.

    allow: False: deny the log-in.
    """
    codes = _codes()
    if data := codes.cache.get(codes.cache_device_code_key(device_code)):
        # A code that is allowed before a change of the password gives no token after it.
        codes.update_device_state(device_code, data | {"session": by.get_session_auth_hash()})
    return codes.confirm_or_deny_device_code(by, device_code, confirm=allow)


def redeem(request: Any, *, name: str) -> Issued:
    """Issue an API token named `name` for the device code in a request, once the user of the code has allowed it.

    Raises oauthlib's OAuth2Error until then, or if the code is invalid; Refused as `tokens.issue` does, for an invalid
    name without using up the code.
    """
    from oauthlib.oauth2.rfc8628.errors import AccessDenied

    # Before the code is used up, so that the command can ask again with another name.
    tokens.check_name(name)
    user, data = _codes().poll_device_code(request)
    if not constant_time_compare(data["session"], user.get_session_auth_hash()):
        raise AccessDenied
    scope = data["scope"][0]
    token, secret = tokens.issue(by=user, name=name, scope=scope)
    return Issued(token, secret, scope)


def _codes() -> Any:
    """Import and return django-allauth's module of device codes.

    It is imported only when it is used, because the import of oauthlib takes a tenth of a second.
    """
    from allauth.idp.oidc.internal.oauthlib import device_codes

    return device_codes
