"""django-allauth's adapter for accounts of other providers: the providers, the stored data, and how accounts unlink."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import structlog
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import render

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

        def request(*args: Any, **kwargs: Any) -> Any:
            try:
                response = send(*args, **kwargs)
                response.raise_for_status()
            except RequestException as error:
                log.warning("login_provider_failed", host=urlsplit(args[1]).hostname, error=type(error).__name__)
                page = render(self.request, "socialaccount/authentication_error.html", status=401)
                raise ImmediateHttpResponse(page) from error
            return response

        session.request = request
        return session

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


def _label(data: dict[str, Any]) -> str:
    """Return a name for an account of another provider: the first of user name, address and name in `data`, or "".

    data: the data about the account that the provider has sent.
    """
    fields = data.get("userinfo") or data.get("id_token") or data
    names = (fields.get(name) for name in ("preferred_username", "login", "email", "name", "label"))
    return str(next(filter(None, names), ""))[:200]
