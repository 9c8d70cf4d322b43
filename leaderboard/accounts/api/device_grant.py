"""API views of `/auth/device/`: the device authorization grant (RFC 8628), which gives `holdout-eval login` its token.

Errors have the fields of OAuth (`error`) in addition to those of the API.
"""

from __future__ import annotations

import json
from typing import Any

from allauth.core import ratelimit
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.actions import device_grants
from leaderboard.core.api.base import View
from leaderboard.core.api.serializers import errors
from leaderboard.models import TokenDetails

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
NO_STORE = {"Cache-Control": "no-store"}
MESSAGES = {
    "authorization_pending": "The log-in has not been allowed on the site yet; try again after `interval` seconds.",
    "slow_down": "The request came too early; wait 5 seconds longer between requests.",
    "access_denied": "The log-in was denied.",
    "invalid_grant": "The device code is unknown or has expired; expected a new one.",
}


class DeviceCodeRequest(serializers.Serializer[Any]):
    client_id = serializers.ChoiceField([device_grants.CLIENT])
    scope = serializers.ChoiceField(
        TokenDetails.Scope.choices, default=TokenDetails.Scope.SUBMIT, help_text="`read`: GET requests only"
    )


class DeviceCode(serializers.Serializer[Any]):
    device_code = serializers.CharField(help_text="secret of the command, for requests of the token")
    user_code = serializers.CharField(help_text="the code that the user sees and enters on the site")
    verification_uri = serializers.CharField(help_text="the page on which the user enters the code")
    verification_uri_complete = serializers.CharField(help_text="the same page, with the code")
    expires_in = serializers.IntegerField(help_text="seconds until the code expires")
    interval = serializers.IntegerField(help_text="seconds between requests of the token")


class DeviceTokenRequest(serializers.Serializer[Any]):
    grant_type = serializers.ChoiceField([GRANT])
    client_id = serializers.ChoiceField([device_grants.CLIENT])
    device_code = serializers.CharField(max_length=200)
    name = serializers.CharField(max_length=60, default="", allow_blank=True, help_text="what the token is for")


class DeviceToken(serializers.Serializer[Any]):
    access_token = serializers.CharField(help_text="an API token; send it as `Authorization: Token ...`")
    token_type = serializers.CharField(help_text="always `Token`")
    expires_in = serializers.IntegerField(help_text="seconds until the token expires")
    scope = serializers.ChoiceField(TokenDetails.Scope.choices)


class GrantError(exceptions.APIException):
    """An error of RFC 6749 or RFC 8628, named by its code."""

    status_code = 400


class _GrantView(View):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    parser_classes = (FormParser,)

    def handle_exception(self, exc: Exception) -> Any:
        """Return the API's error response with the field `error` of OAuth in addition."""
        response: Any = super().handle_exception(exc)
        problem = json.loads(response.content)
        code = problem["code"]
        response.content = json.dumps({**problem, "error": "invalid_request" if code == "invalid" else code})
        return response


class DeviceCodeView(_GrantView):
    """View that begins a log-in by the browser."""

    @extend_schema(
        operation_id="device_code", request=DeviceCodeRequest, responses={200: DeviceCode, **errors(415)}, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Begin a log-in by the browser (RFC 8628). The user allows it at `verification_uri`."""
        if not ratelimit.consume(request._request, action="device_code"):
            raise exceptions.Throttled(wait=60, detail="Too many log-ins from your address.")
        fields = DeviceCodeRequest(data=request.data)
        fields.is_valid(raise_exception=True)
        page = settings.BASE_URL + reverse("device")
        response = device_grants.begin(scope=fields.validated_data["scope"], page=page)
        return Response(response, headers=NO_STORE)


class DeviceTokenView(_GrantView):
    """View that issues the API token of a log-in by the browser."""

    @extend_schema(
        operation_id="device_token",
        request=DeviceTokenRequest,
        responses={200: DeviceToken, **errors(415, 422)},
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Issue the API token of a log-in by the browser (RFC 8628).

        Until the user allows the log-in, the error is `authorization_pending`: repeat the request every `interval`
        seconds.
        """
        from oauthlib.oauth2 import OAuth2Error

        fields = DeviceTokenRequest(data=request.data)
        fields.is_valid(raise_exception=True)
        try:
            issued = device_grants.redeem(request, name=fields.validated_data["name"])
        except OAuth2Error as error:
            raise GrantError(MESSAGES.get(error.error, error.description), code=error.error) from error
        seconds = int((issued.token.expiry - timezone.now()).total_seconds())
        content = {
            "access_token": issued.secret,
            "token_type": "Token",
            "expires_in": seconds,
            "scope": issued.scope,
        }
        return Response(content, headers=NO_STORE)
