"""URLs of earlier releases. A GET request is redirected permanently to the current URL, with its query string."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from leaderboard.web_urls.public import FROZEN

PHASE = "benchmarks/<slug:slug>/<slug:phase>"
SPLIT = "manage/benchmarks/<slug:slug>/splits/<slug:split>"

MOVED = {
    f"{FROZEN}/apart/": "frozen_significance",
    f"{FROZEN}/cross/<path:pair>/": "frozen_two_way_board",
    f"{FROZEN}/side-by-side/": "frozen_head_to_head",
    f"{PHASE}/apart/": "significance",
    f"{PHASE}/cross/<path:pair>/": "two_way_board",
    f"{PHASE}/side-by-side/": "head_to_head",
    "manage/benchmarks/<slug:slug>/near-copies/": "manage_near_duplicates",
    "manage/benchmarks/<slug:slug>/phases/<slug:phase>/information/": "manage_leakage_budget",
    "manage/benchmarks/<slug:slug>/trail/": "manage_audit_trail",
    f"{SPLIT}/beside/": "manage_publish_preview",
    f"{SPLIT}/halves/": "manage_public_private",
    f"{SPLIT}/life/": "manage_split",
    "me/notices/": "my_notices",
}
"""Former routes with the names of the present URLs. Pages of boards may be cited, so they stay."""

urlpatterns = [
    path(
        route,
        RedirectView.as_view(pattern_name=name, permanent=True, query_string=True, http_method_names=["get", "head"]),
        name=f"former_{name}",
    )
    for route, name in MOVED.items()
]
