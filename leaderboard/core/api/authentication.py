"""Who asks: `Authorization: Token ...`."""

from __future__ import annotations

from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox import auth
from rest_framework.exceptions import AuthenticationFailed


class TokenAuthentication(auth.TokenAuthentication):
    """Knox's, for headers of any bytes: Knox itself decodes them without a net."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)


class TokenScheme(KnoxTokenScheme):
    """Describes it in the OpenAPI schema."""

    target_class: Any = TokenAuthentication
    name = "token"
