"""API views of `/auth/tokens/`: issue a token for a user name and a password, and revoke it."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.utils import has_verified_email
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.core.exceptions import ValidationError as Throttled
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.actions import tokens
from leaderboard.core.api.base import View
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.serializers import errors
from leaderboard.models import TokenDetails, User


class Credentials(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=254, help_text="user name or email address")
    password = serializers.CharField(max_length=1024, trim_whitespace=False, write_only=True)
    name = serializers.CharField(max_length=60, default="", allow_blank=True, help_text="what the token is for")
    scope = serializers.ChoiceField(
        TokenDetails.Scope.choices, default=TokenDetails.Scope.SUBMIT, help_text="`read`: GET requests only"
    )
    days = serializers.ChoiceField(tokens.LIFETIMES, default=tokens.DEFAULT_DAYS, help_text="until it expires")


class IssuedToken(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="shown once; send it as `Authorization: Token ...`")
    expires_at = serializers.DateTimeField()
    name = serializers.CharField()
    scope = serializers.ChoiceField(TokenDetails.Scope.choices)
    username = serializers.CharField()


class NoToken(exceptions.ValidationError):
    default_code = "no_token"


class TokensView(View):
    """View that issues API tokens. Failed attempts here and on the log-in page count towards the same rate limits."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    parser_classes = (JSONParser, FormParser)

    def get_authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header: without it, a wrong password would give 403 instead of 401."""
        return "Token"

    @extend_schema(
        operation_id="token_issue", request=Credentials, responses={201: IssuedToken, **errors(409, 415)}, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Issue a token for a user name or email address and a password."""
        credentials = Credentials(data=request.data)
        credentials.is_valid(raise_exception=True)
        sent = credentials.validated_data
        user = _who_is(request, username=sent["username"], password=sent["password"])
        token, secret = tokens.issue(by=user, name=sent["name"], scope=sent["scope"], days=sent["days"])
        content = IssuedToken(
            {
                "token": secret,
                "expires_at": token.expiry,
                "name": sent["name"],
                "scope": sent["scope"],
                "username": user.username,
            }
        )
        return Response(content.data, status=201, headers={"Cache-Control": "no-store"})


def _who_is(request: Request, username: str, password: str) -> User:
    name = "email" if "@" in username else "username"
    try:
        user = get_adapter().authenticate(request._request, **{name: username}, password=password)
    except Throttled as error:
        # Attempts are limited per minute and per hour; a minute is the minimum wait.
        raise exceptions.Throttled(
            wait=60, detail="Too many failed attempts for this account or from your address."
        ) from error
    if user is None or not user.is_active:
        raise exceptions.AuthenticationFailed("The user name or the password is wrong.")
    if is_mfa_enabled(user):
        raise exceptions.PermissionDenied(
            "This account uses two-factor authentication: run `holdout-eval login` without --user, which opens the "
            "browser, or create a token on the site.",
            code="second_factor",
        )
    # The log-in page asks for it too. Otherwise scripts could collect accounts with addresses of others.
    if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory" and not has_verified_email(user):
        raise exceptions.PermissionDenied(
            "The email address of this account is not verified: log in on the site, and follow the mailed link.",
            code="email_not_verified",
        )
    return user


class CurrentTokenView(View):
    """View of the API token with which the request is authenticated."""

    read_only_tokens_may_write = True

    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="token_revoke", responses={204: None, **errors()})
    def delete(self, request: Request) -> Response:
        """Revoke the token that this request carries."""
        if request.auth is None:
            raise NoToken("This request carries no token; log out on the site to end a session.")
        tokens.revoke(token=request.auth, by=cast(User, request.user))
        return Response(status=204)
