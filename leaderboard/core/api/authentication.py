"""Token authentication (`Authorization: Token ...`), the scope of tokens, and their last use."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox import auth
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS

from leaderboard.models import TokenDetails


class TokenAuthentication(auth.TokenAuthentication):
    """Knox's authentication, with scopes of tokens.

    Rejects non-ASCII tokens: Knox itself fails with a decoding error on them.
    """

    def authenticate(self, request: Any) -> Any:
        """Return user and token, and record the day of use. Raises PermissionDenied if the token may only read.

        A view with the attribute `read_only_tokens_may_write` accepts such tokens for every method.
        """
        found = super().authenticate(request)
        if found is None:
            return None
        details = TokenDetails.objects.filter(token=found[1]).first()
        today = timezone.now().date()
        if details is None or details.last_used != today:
            TokenDetails.objects.update_or_create(token=found[1], defaults={"last_used": today})
        is_read_only = details is not None and details.scope == TokenDetails.Scope.READ
        view = request.parser_context.get("view")
        if (
            is_read_only
            and request.method not in SAFE_METHODS
            and not getattr(view, "read_only_tokens_may_write", False)
        ):
            raise PermissionDenied(
                "This token may only read; expected one with the scope `submit`, which Settings on the site creates.",
                code="read_only_token",
            )
        return found

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)


class TokenScheme(KnoxTokenScheme):
    """Description of `TokenAuthentication` for the OpenAPI schema."""

    target_class: Any = TokenAuthentication
    name = "token"
