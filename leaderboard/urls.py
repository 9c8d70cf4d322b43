"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

from leaderboard import metrics
from leaderboard.web.urls_people import urlpatterns as people
from leaderboard.web.urls_public import urlpatterns as public

urlpatterns = [
    *public,
    *people,
    path("metrics", metrics.metrics, name="metrics"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("leaderboard.api.urls")),
]

handler400 = "leaderboard.web.public.errors.bad_request"
handler403 = "leaderboard.web.public.errors.forbidden"
handler404 = "leaderboard.web.public.errors.not_found"
handler429 = "leaderboard.web.public.errors.too_many"
handler500 = "leaderboard.web.public.errors.server_error"
