"""The admin site. Users log in on the site's own page, which limits attempts and asks for a second factor."""

from collections.abc import Callable
from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.idp.oidc.models import Client, Token
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.models import Group
from django.views.decorators.debug import sensitive_post_parameters
from knox.models import AuthToken

from leaderboard.admin import benchmarks, changes, people, phases, work
from leaderboard.core.web.reauthentication import reauthentication_required_to_change

__all__ = ["benchmarks", "changes", "people", "phases", "work"]

admin.site.site_header = "Holdout"
admin.site.site_title = "Holdout"
admin.site.index_title = "Records"
# The admin's own log-in page has neither a rate limit nor a second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

_admin_view = admin.site.admin_view


def _asking_view(view: Callable[..., Any], cacheable: bool = False) -> Callable[..., Any]:
    """Decorate a view of the admin, which can change every account: changes need a recent log-in or password.

    Their forms, which may have passwords, are not stored in the session.
    """
    return _admin_view(sensitive_post_parameters()(reauthentication_required_to_change(view)), cacheable)


admin.site.admin_view = _asking_view  # type: ignore[method-assign, assignment]

# Second factors, tokens and linked accounts are private to their owners, providers are configured in the environment,
# the site creates its OAuth client itself, and permissions belong to users, not to groups.
for model in (Authenticator, AuthToken, Client, Group, SocialAccount, SocialApp, SocialToken, Token):
    admin.site.unregister(model)
