"""django-allauth's adapter: mails of accounts, user names at sign-up, and the throttle of log-ins."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import structlog
from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.account.models import EmailAddress
from allauth.account.utils import filter_users_by_email, filter_users_by_username
from allauth.core import ratelimit
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.actions import account_mails, known_networks, usernames
from leaderboard.core.login_providers import LoginProvider
from leaderboard.core.refusal import Refused
from leaderboard.core.text.mail_text import check_address, quoted, without_links
from leaderboard.core.text.plain_text import one_line
from leaderboard.core.web.client_network import network_of

log = structlog.get_logger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    """Hooks by which django-allauth's accounts follow the site's rules."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "too_many_login_attempts": "Too many failed attempts for this account or from your address. Wait a minute; "
        "after many attempts, up to an hour. If you have forgotten your password, reset it.",
        "incorrect_code": "This code is wrong or has expired.",
        "rate_limited": "Too many attempts. Wait a minute.",
    }

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links and site name are those of BASE_URL.

        django-allauth takes both from the request's Host header, which the sender of the request chooses.
        """
        links = {
            name: settings.BASE_URL + urlsplit(value)._replace(scheme="", netloc="").geturl()
            for name, value in context.items()
            if name.endswith("_url")
        }
        site = SimpleNamespace(name="Holdout", domain=urlsplit(settings.BASE_URL).netloc)
        # The address may be a stranger's, and the name is what somebody chose.
        name = quoted(str(getattr(context.get("user"), "username", "") or context.get("username", "")))
        common = {"request": self.request, "email": email, "current_site": site, "quoted_username": name}
        self.render_mail(template_prefix, email, {**common, **context, **links}).send()

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Return the name; raise ValidationError if a new user may not take it. shallow: ignore similar names."""
        username = super().clean_username(username, shallow)
        try:
            return username if shallow else usernames.checked(username, reserved=settings.ACCOUNT_USERNAME_BLACKLIST)
        except Refused as refused:
            raise ValidationError(refused.message) from refused

    def clean_email(self, email: str) -> str:
        """Return the address; raise ValidationError if no mail can be written to it."""
        check_address(email)
        return super().clean_email(email)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return whether a change needs a confirmation: the user's last log-in or confirmation is not recent.

        Raises ReauthenticationRequired for accounts without password and second factor, of which django-allauth would
        ask nothing: their users log in again at another provider.
        """
        records = get_authentication_records(self.request, self.request.user)
        oldest = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
        if any(record["at"] > oldest for record in records):
            return False
        if not get_reauthentication_flows(self.request.user):
            raise ReauthenticationRequired
        return True

    def post_login(self, request: HttpRequest, user: Any, *, signup: bool, **kwargs: Any) -> Any:
        """Count a sign-up as a log-in, and return the response."""
        if signup:
            record_authentication(request, user, "signup")
        return super().post_login(request, user, signup=signup, **kwargs)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the pages on which the user can confirm who they are; the first is the one to begin with.

        Without password and second factor, these are log-ins at linked providers, or else a new password by mail.
        """
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if methods or not user.is_authenticated:
            return methods
        linked = set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))
        return [
            {"id": provider.id, "description": f"Log in with {provider.name}", "url": login_url(provider)}
            for provider in settings.LOGIN_PROVIDERS
            if provider.id in linked
        ] or [{"id": "password", "description": "Set a password", "url": reverse("account_reset_password")}]

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Mail the link that verifies an address, and tell the primary address of one that was added."""
        super().send_confirmation_mail(request, emailconfirmation, signup)
        row = emailconfirmation.email_address
        if not signup and not row.primary:
            account_mails.tell(row.user, f"The email address {row.email} was added to your account.")

    def send_notification_mail(
        self, template_prefix: str, user: Any, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Mail a user that their account was changed. The change stands if the mail cannot be sent.

        email: to which it goes; None: the primary address, and also the address that was removed, if one was: the
        primary one may be that of somebody who took the account over.
        """
        known = (email or EmailAddress.objects.get_primary_email(user), (context or {}).get("deleted_email"))
        addresses = {str(address) for address in known if address}
        if not settings.SENDS_MAIL or not addresses:
            return
        origin: dict[str, Any] = {}
        if self.request is not None:  # None in a command of the operator
            origin["timestamp"] = timezone.now()
            origin["network"] = network_of(self.request)
            origin["user_agent"] = without_links(one_line(self.get_http_user_agent(self.request)))[:200]
        for address in sorted(addresses):
            try:
                self.send_mail(template_prefix, address, origin | (context or {}))
            except OSError as error:  # includes smtplib's exceptions
                log.warning("account_mail_failed", user=user.pk, kind=template_prefix, error=type(error).__name__)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count an attempt to log in; raises ValidationError if there were too many (ACCOUNT_RATE_LIMITS)."""
        super().pre_authenticate(request, **credentials)
        # The limit over all networks slows a guesser who uses many, but not the owner in a known network.
        email, username = credentials.get("email"), credentials.get("username", "")
        users = filter_users_by_email(email, prefer_verified=True) if email else filter_users_by_username(username)
        if not known_networks.is_known(users, network_of(request)) and not ratelimit.consume(
            request, action="login_from_new_network", key=_login(credentials)
        ):
            raise self.validation_error("too_many_login_attempts")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """Return the user with these credentials, and remember the request's network; None for wrong credentials."""
        user = super().authenticate(request, **credentials)
        if user is not None:
            known_networks.remember(user, network_of(request))
        return user

    @transaction.atomic
    def set_password(self, user: Any, password: str) -> None:
        """Set the password, which revokes the tokens, and remember the request's network: only the owner can set it."""
        super().set_password(user, password)
        known_networks.remember(user, network_of(self.request))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the key under which failed attempts are counted for the limit `login_failed`: account and network.

        django-allauth's key is the account and the Host header. With it anybody could lock out the account's owner,
        and guess again after changing the Host header.
        """
        return f"{_login(credentials)} {network_of(request)}"


class SecondFactorAdapter(DefaultMFAAdapter):
    """django-allauth's adapter of second factors, with the site's error messages."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This code is wrong, or the passkey does not belong to this account.",
        "unverified_email": "Verify your email address first.",
        "add_email_blocked": "An account with a second factor cannot get another email address.",
    }

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        """Return the suggested name of a new passkey."""
        return "Passkey"


def login_url(provider: LoginProvider) -> str:
    """Return the path of the page that begins a log-in at another provider."""
    return reverse(f"{provider.app}_login", args=[provider.id] if provider.app == "openid_connect" else [])


def _login(credentials: dict[str, Any]) -> str:
    """Return the user name or mail address that was entered, in lower case, since the log-in ignores case."""
    return str(credentials.get("email") or credentials.get("username", "")).lower()
