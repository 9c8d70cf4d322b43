"""django-allauth's adapter for accounts of other providers: the providers, the stored data, and how accounts unlink."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

import structlog
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.github.provider import GitHubProvider
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.utils import get_request_param
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.crypto import get_random_string

from leaderboard.core import login_claims

READ_SECONDS = 20
"""Maximum time in which a provider sends one response."""
log = structlog.get_logger(__name__)


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Hooks by which accounts of other providers follow the site's rules."""

    error_messages = DefaultSocialAccountAdapter.error_messages | {
        "email_taken": "Another account has this email address. If it is yours, log in to it and link %s under "
        "Settings, Linked accounts.",
        "no_password": "You log in with this account only. Set a password first, or link another account.",
        "no_verified_email": "Verify an email address first. Without one, you could not reset your password.",
        "connected_other": "This account is linked to another account of this site.",
    }

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """Return the configured providers. django-allauth would also read its table of them on each page."""
        apps = []
        for app, options in settings.SOCIALACCOUNT_PROVIDERS.items():
            for fields in options["APPS"]:
                row = SocialApp(provider=app, **fields)
                if provider in (None, row.provider, row.provider_id) and client_id in (None, row.client_id):
                    apps.append(row)
        return apps

    def get_requests_session(self) -> Any:
        """Return a session for requests to a provider. A request that fails ends in the page of a failed log-in."""
        from requests import RequestException

        session = super().get_requests_session()
        send = session.request

        def request(method: str, url: str, **kwargs: Any) -> Any:
            try:
                # GitHub sends tokens as a form unless it is asked for JSON.
                headers = {"Accept": "application/json", **(kwargs.pop("headers", None) or {})}
                response = send(method, url, stream=True, headers=headers, **kwargs)
                response.raise_for_status()
                _read(response)
            except (RequestException, login_claims.ClaimsError) as error:
                reason = str(error) if isinstance(error, login_claims.ClaimsError) else ""
                raise self._failed(urlsplit(url).hostname, error, reason) from error
            return response

        session.request = request
        return session

    def get_provider(self, request: HttpRequest, provider: Any, client_id: Any = None) -> Any:
        """Return a provider that uses nothing of what the other site says before it was checked."""
        found = super().get_provider(request, provider, client_id)
        return CHECKED[type(found)](request, app=found.app)

    def _failed(self, provider: str | None, error: Exception, reason: str = "") -> ImmediateHttpResponse:
        """Log why a log-in failed, for the operator, and return the page of a failed log-in, to be raised."""
        log.warning("login_provider_failed", provider=provider, error=type(error).__name__, reason=reason)
        return ImmediateHttpResponse(render(self.request, "socialaccount/authentication_error.html", status=401))

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Keep only the account's id and its displayed name of the data that the provider sends, and not its token.

        Addresses count as verified only if the provider says so: some send the text "false", which is true in Python.
        """
        for address in sociallogin.email_addresses:
            address.verified = address.verified is True
        sociallogin.token = None
        account = sociallogin.account
        account.extra_data = {"label": _label(account.extra_data)}
        if account.pk:
            account.save(update_fields=["extra_data"])

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> Any:
        """Create the user with the address in the form.

        The address counts as verified only if the provider has verified it.
        """
        chosen = form.cleaned_data["email"].lower()
        sociallogin.email_addresses = [row for row in sociallogin.email_addresses if row.email.lower() == chosen]
        return super().save_user(request, sociallogin, form)

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Any:
        """Take only the address and the user name from the provider, as suggestions for the form."""
        return super().populate_user(request, sociallogin, {name: data.get(name) for name in ("username", "email")})

    def validate_disconnect(self, account: SocialAccount, accounts: QuerySet[SocialAccount]) -> None:
        """Raise ValidationError if the user could not log in without this account.

        Accounts of providers that are no longer configured do not count as ways to log in.
        """
        offered = [provider.id for provider in settings.LOGIN_PROVIDERS]
        if account.user.has_usable_password() or accounts.exclude(pk=account.pk).filter(provider__in=offered).exists():
            return
        raise self.validation_error("no_password")


class _Checked:
    """Mixin of providers: checks what they say of a person, and ignores parameters that a link to the log-in adds."""

    def get_auth_params_from_request(self, request: HttpRequest, action: Any) -> dict[str, Any]:
        return dict(self.get_auth_params())  # type: ignore[attr-defined]

    def get_scope_from_request(self, request: HttpRequest) -> list[str]:
        return list(self.get_scope())  # type: ignore[attr-defined]

    def check(self, request: HttpRequest, said: Any) -> None:
        raise NotImplementedError

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> Any:
        try:
            self.check(request, response)
        except login_claims.ClaimsError as error:
            raise SocialAccountAdapter()._failed(self.app.name, error, str(error)) from error  # type: ignore[attr-defined]
        return super().sociallogin_from_response(request, response)  # type: ignore[misc]


class CheckedOpenIDConnect(_Checked, OpenIDConnectProvider):
    """django-allauth's OpenID Connect provider, with a nonce."""

    def redirect(
        self, request: HttpRequest, process: Any, next_url: Any = None, data: Any = None, **kwargs: Any
    ) -> Any:
        state = get_random_string(32)
        kwargs["auth_params"] = {**kwargs.get("auth_params", {}), "nonce": login_claims.nonce_of(state)}
        return super().redirect(request, process, next_url, data, state_id=state, **kwargs)

    def check(self, request: HttpRequest, said: Any) -> None:
        nonce = login_claims.nonce_of(str(get_request_param(request, "state")))
        login_claims.check_person(said, client_id=self.app.client_id, nonce=nonce)


class CheckedGitHub(_Checked, GitHubProvider):
    def check(self, request: HttpRequest, said: Any) -> None:
        login_claims.check_github(said)


CHECKED: dict[type, type] = {OpenIDConnectProvider: CheckedOpenIDConnect, GitHubProvider: CheckedGitHub}


def _read(response: Any) -> None:
    """Read and check the body of a provider's response.

    Raises ClaimsError if it is too long, slow, or says something else than the protocol allows.
    """
    content, deadline = b"", time.monotonic() + READ_SECONDS
    for chunk in response.iter_content(1 << 16):
        content += chunk
        if len(content) > login_claims.MAX_BYTES or time.monotonic() > deadline:
            raise login_claims.ClaimsError("the response is too long or too slow")
    login_claims.check_document(content, is_discovery="/.well-known/" in response.request.url)
    # As if it had been read without a limit, and by django-allauth as what was checked.
    response._content, response.encoding = content, "utf-8"
    response.headers["Content-Type"] = "application/json"


def links_account(request: HttpRequest) -> bool:
    """Return whether a request begins a log-in at another provider whose account will be linked to the user's."""
    return get_request_param(request, "process") == AuthProcess.CONNECT


def _label(data: dict[str, Any]) -> str:
    """Return a name for an account of another provider: the first of user name, address and name in `data`, or "".

    data: the data about the account that the provider has sent.
    """
    fields = data.get("userinfo") or data.get("id_token") or data
    names = (fields.get(name) for name in ("preferred_username", "login", "email", "name", "label"))
    return str(next(filter(None, names), ""))[:200]
