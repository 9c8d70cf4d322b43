"""Token authentication (`Authorization: Token ...`): checks a token's scope, and records the day of its last use."""

from __future__ import annotations

import binascii
from hmac import compare_digest
from typing import Any

from django.utils import timezone
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox import auth
from knox.crypto import hash_token
from knox.models import AuthToken
from knox.settings import CONSTANTS
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS

from leaderboard.models import TokenDetails


class TokenAuthentication(auth.TokenAuthentication):
    """Knox's token authentication, in which a token also has a scope: read-only, or allowed to write.

    Rejects non-ASCII tokens: Knox itself fails with a decoding error on them.
    """

    def authenticate(self, request: Any) -> Any:
        """Return (user, token), or None if the request has no token; record the day of the token's use.

        Raises PermissionDenied if a read-only token is used with a method that writes. A view with a true attribute
        `read_only_tokens_may_write` accepts such tokens for every method. Raises AuthenticationFailed for an invalid
        token.
        """
        found = super().authenticate(request)
        if found is None:
            return None
        details = getattr(found[1], "details", None)
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
        """Return (user, token row) of a token that a client sent. Raises AuthenticationFailed for an invalid one.

        A token that has expired is deleted. Unlike Knox, this deletes no other expired tokens of the user:
        `manage.py cleanup` does.
        """
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        secret = token.decode("ascii")
        rows = AuthToken.objects.filter(token_key=secret[: CONSTANTS.TOKEN_KEY_LENGTH])
        for row in rows.select_related("user", "details"):
            try:
                digest = hash_token(secret)
            except (TypeError, binascii.Error):
                break
            if compare_digest(digest, row.digest) and not self._cleanup_token(row):
                return self.validate_user(row)
        raise AuthenticationFailed("Invalid token.")

    def _cleanup_token(self, auth_token: Any) -> bool:
        """Delete the token if it has expired, and return whether it had."""
        if auth_token.expiry is None or auth_token.expiry >= timezone.now():
            return False
        auth_token.delete()
        return True


class TokenScheme(KnoxTokenScheme):
    """Description of `TokenAuthentication` for the OpenAPI schema."""

    target_class: Any = TokenAuthentication
    name = "token"
