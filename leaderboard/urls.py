"""URLs of the site."""

from collections.abc import Iterable, Iterator

from allauth.urls import urlpatterns as allauth_patterns
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.debug import sensitive_post_parameters

from leaderboard.accounts.web.social_adapter import links_account
from leaderboard.core.web.reauthentication import is_change, reauthentication_required
from leaderboard.operations import metrics
from leaderboard.web_urls.people import urlpatterns as people
from leaderboard.web_urls.public import urlpatterns as public

ASKING = {
    "account_email": is_change,
    "account_set_password": None,
    "socialaccount_connections": is_change,
    "github_login": links_account,
    "openid_connect_login": links_account,
}
"""URL names of django-allauth's views that ask too late or not at all, with the requests of which the site asks."""


def asking(entries: Iterable[URLPattern | URLResolver]) -> Iterator[URLPattern | URLResolver]:
    """Decorate the views of ASKING in these URLs, and yield the URLs."""
    for entry in entries:
        if isinstance(entry, URLResolver):
            entry.url_patterns[:] = asking(entry.url_patterns)
        elif entry.name in ASKING:
            view = reauthentication_required(entry.callback, of=ASKING[entry.name])
            has_password = entry.name == "account_set_password"  # its form is not stored in the session
            entry.callback = sensitive_post_parameters()(view) if has_password else view
        yield entry


ACCOUNTS = list(asking(entry for entry in allauth_patterns if not str(entry.pattern).startswith("social/")))
"""URLs of django-allauth without those of its earlier releases."""

urlpatterns = [
    *public,
    *people,
    path("metrics", metrics.metrics, name="metrics"),
    path("accounts/", include(ACCOUNTS)),
    path("admin/", admin.site.urls),
    path("api/v1/", include("leaderboard.api_urls")),
]

handler400 = "leaderboard.core.web.error_pages.bad_request"
handler403 = "leaderboard.core.web.error_pages.forbidden"
handler404 = "leaderboard.core.web.error_pages.not_found"
handler429 = "leaderboard.core.web.error_pages.too_many"
handler500 = "leaderboard.core.web.error_pages.server_error"
