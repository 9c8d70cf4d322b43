"""django-allauth's adapter: mails of accounts, and user names at sign-up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import ValidationError

from leaderboard.accounts.actions import usernames
from leaderboard.core.refusal import Refused


class AccountAdapter(DefaultAccountAdapter):
    """Hooks by which django-allauth's accounts follow the site's rules."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links and site name are those of BASE_URL.

        django-allauth takes both from the request's Host header, which the sender of the request chooses.
        """
        links = {
            name: settings.BASE_URL + urlsplit(value)._replace(scheme="", netloc="").geturl()
            for name, value in context.items()
            if name.endswith("_url")
        }
        host = urlsplit(settings.BASE_URL).netloc
        site = SimpleNamespace(name=host, domain=host)
        super().send_mail(template_prefix, email, {**context, **links, "current_site": site})

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Return the name if a new user may take it; raises ValidationError. shallow: do not compare it with others."""
        username = super().clean_username(username, shallow)
        try:
            return username if shallow else usernames.checked(username, reserved=settings.ACCOUNT_USERNAME_BLACKLIST)
        except Refused as refused:
            raise ValidationError(refused.message) from refused
