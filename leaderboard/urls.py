"""URLs of the site."""

from allauth.urls import urlpatterns as allauth_patterns
from django.contrib import admin
from django.urls import include, path

from leaderboard.operations import metrics
from leaderboard.web_urls.moved import urlpatterns as moved
from leaderboard.web_urls.people import urlpatterns as people
from leaderboard.web_urls.public import urlpatterns as public

ACCOUNTS = [entry for entry in allauth_patterns if not str(entry.pattern).startswith("social/")]
"""URLs of django-allauth without those of its earlier releases."""

urlpatterns = [
    *public,
    *people,
    *moved,
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
