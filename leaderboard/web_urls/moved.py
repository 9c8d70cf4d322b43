"""Former URLs. A GET or HEAD request is permanently redirected to the present URL with the query string."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from leaderboard.web_urls.public import FROZEN

SPLIT = "manage/benchmarks/<slug:slug>/splits/<slug:split>"

MOVED = {
    f"{FROZEN}/apart/": "frozen_significance",
    "benchmarks/<slug:slug>/<slug:phase>/apart/": "significance",
    "manage/benchmarks/<slug:slug>/near-copies/": "manage_near_duplicates",
    "manage/benchmarks/<slug:slug>/phases/<slug:phase>/information/": "manage_information",
    "manage/benchmarks/<slug:slug>/trail/": "manage_trail",
    f"{SPLIT}/beside/": "manage_beside",
    f"{SPLIT}/halves/": "manage_public_private",
    f"{SPLIT}/life/": "manage_split",
    "me/notices/": "my_notices",
}
"""Former routes, each with the name of the present URL. The first two must stay, since publications may cite them."""

urlpatterns = [
    path(
        route,
        RedirectView.as_view(pattern_name=name, permanent=True, query_string=True, http_method_names=["get", "head"]),
        name=f"former_{name}",
    )
    for route, name in MOVED.items()
]
