"""The admin site. Users log in on the site's own page, which limits attempts and asks for a second factor."""

from allauth.account.decorators import secure_admin_login
from allauth.idp.oidc.models import Client, Token
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.models import Group
from knox.models import AuthToken

from leaderboard.admin import benchmarks, people, phases, records, reported, work

__all__ = ["benchmarks", "people", "phases", "records", "reported", "work"]

admin.site.site_header = "Holdout"
admin.site.site_title = "Holdout"
admin.site.index_title = "Records"
# The admin's own log-in page has neither a rate limit nor a second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

# Second factors, tokens and linked accounts are private to their owners, providers are configured in the environment,
# the site creates its OAuth client itself, and permissions belong to users, not to groups.
for model in (Authenticator, AuthToken, Client, Group, SocialAccount, SocialApp, SocialToken, Token):
    admin.site.unregister(model)
