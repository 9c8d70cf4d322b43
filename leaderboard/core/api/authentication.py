"""Token authentication: `Authorization: Token ...`."""

from __future__ import annotations

from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox import auth
from rest_framework.exceptions import AuthenticationFailed


class TokenAuthentication(auth.TokenAuthentication):
    """Knox's authentication, which rejects non-ASCII tokens: Knox itself fails with a decoding error on them."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)


class TokenScheme(KnoxTokenScheme):
    """Description of `TokenAuthentication` for the OpenAPI schema."""

    target_class: Any = TokenAuthentication
    name = "token"
