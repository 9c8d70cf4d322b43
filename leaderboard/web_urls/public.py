"""URLs of the pages that can be read without logging in: tasks, benchmarks, boards, systems, downloads and feeds."""

from django.urls import path

from leaderboard.benchmarks.web.benchmark import benchmark, data, how_to_submit, rules
from leaderboard.benchmarks.web.home import home
from leaderboard.benchmarks.web.manifest_schema import manifest_schema
from leaderboard.benchmarks.web.search_engines import robots, sitemap
from leaderboard.benchmarks.web.tasks import measures, tasks
from leaderboard.benchmarks.web.teaser import teaser
from leaderboard.boards.web.pages.badge import badge
from leaderboard.boards.web.pages.by_slice import board_by_slice
from leaderboard.boards.web.pages.by_track import board_by_track
from leaderboard.boards.web.pages.cite import cite
from leaderboard.boards.web.pages.contrast_pairs import pairs
from leaderboard.boards.web.pages.cost import cost_board
from leaderboard.boards.web.pages.embed import embed
from leaderboard.boards.web.pages.leaderboard import leaderboard
from leaderboard.boards.web.pages.progress import progress
from leaderboard.boards.web.pages.rank_agreement import agreement
from leaderboard.boards.web.pages.roc import roc
from leaderboard.boards.web.pages.symmetric import symmetric_board
from leaderboard.boards.web.pages.two_way import two_way_board
from leaderboard.comparisons.web.critical_difference import significance
from leaderboard.comparisons.web.head_to_head import head_to_head
from leaderboard.containers.web.scorer import scorer
from leaderboard.core.web.docs import docs, docs_file
from leaderboard.core.web.site_pages import about, contact, security_txt
from leaderboard.datasets.web.croissant import croissant
from leaderboard.datasets.web.downloads import (
    download_file,
    download_gold,
    download_inputs,
    download_pinned,
    download_sample,
)
from leaderboard.datasets.web.split import archive, split
from leaderboard.notifications.web.feeds import benchmark_feed, site_feed
from leaderboard.operations.status_page import public_status
from leaderboard.plots.web.pictures import picture
from leaderboard.systems.web.public_profiles import person, team
from leaderboard.systems.web.system import system

FROZEN = "benchmarks/<slug:slug>/<slug:phase>/gold-<int:gold>/task-<int:task_version>"
"""Route of a frozen board; the routes that begin with it have the same views as those of the current board."""

urlpatterns = [
    path("", home, name="home"),
    path("robots.txt", robots, name="robots"),
    path(".well-known/security.txt", security_txt, name="security_txt"),
    path("sitemap.xml", sitemap, name="sitemap"),
    path("schemas/benchmark.json", manifest_schema, name="manifest_schema"),
    path("feed.atom", site_feed, name="site_feed"),
    path("about/", about, name="about"),
    path("contact/", contact, name="contact"),
    path("status/", public_status, name="status"),
    path("docs/", docs, name="docs"),
    path("docs/<path:name>/", docs, name="docs_page"),
    path("docs/<path:path>", docs_file, name="docs_file"),
    path("tasks/", tasks, name="tasks"),
    path("tasks/<slug:task>/", measures, name="measures"),
    path("systems/<int:pk>/", system, name="system"),
    path("teams/<int:pk>/", team, name="team_page"),
    path("people/<int:pk>/", person, name="person"),
    path("benchmarks/<slug:slug>/", benchmark, name="benchmark"),
    # Two segments, so that they differ from the boards of phases with these names.
    path("benchmarks/<slug:slug>/about/data/", data, name="benchmark_data"),
    path("benchmarks/<slug:slug>/about/rules/", rules, name="benchmark_rules"),
    path("benchmarks/<slug:slug>/about/submit/", how_to_submit, name="benchmark_submit"),
    path("benchmarks/<slug:slug>/picture/<str:sha256>", teaser, name="teaser"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/", split, name="split"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/archive.zip", archive, name="download_archive"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/inputs.jsonl", download_inputs, name="download_inputs"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/sample-submission.jsonl", download_sample, name="download_sample"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/gold.jsonl", download_gold, name="download_gold"),
    path("benchmarks/<slug:slug>/scorers/<int:number>/", scorer, name="scorer_measures"),
    path("benchmarks/<slug:slug>/downloads/<slug:name>", download_file, name="download_file"),
    path("benchmarks/<slug:slug>/files/<str:sha256>/<str:filename>", download_pinned, name="download_pinned"),
    path("benchmarks/<slug:slug>/croissant.json", croissant, name="croissant"),
    path("benchmarks/<slug:slug>/feed.atom", benchmark_feed, name="benchmark_feed"),
    path("benchmarks/<slug:slug>/<slug:phase>/", leaderboard, name="leaderboard"),
    path(f"{FROZEN}/", leaderboard, name="frozen_board"),
    path(f"{FROZEN}/by/track/", board_by_track, name="frozen_board_by_track"),
    path(f"{FROZEN}/by/<path:dimension>/", board_by_slice, name="frozen_board_by_slice"),
    path(f"{FROZEN}/two-way/<path:pair>/", two_way_board, name="frozen_two_way_board"),
    path(f"{FROZEN}/symmetric/", symmetric_board, name="frozen_symmetric_board"),
    path(f"{FROZEN}/head-to-head/", head_to_head, name="frozen_head_to_head"),
    path("benchmarks/<slug:slug>/<slug:phase>/head-to-head/", head_to_head, name="head_to_head"),
    path(f"{FROZEN}/progress/", progress, name="frozen_progress"),
    path("benchmarks/<slug:slug>/<slug:phase>/progress/", progress, name="progress"),
    path(f"{FROZEN}/significance/", significance, name="frozen_significance"),
    path("benchmarks/<slug:slug>/<slug:phase>/significance/", significance, name="significance"),
    path(f"{FROZEN}/pairs/", pairs, name="frozen_pairs"),
    path("benchmarks/<slug:slug>/<slug:phase>/pairs/", pairs, name="pairs"),
    path(f"{FROZEN}/plots/<slug:plot>.svg", picture, {"suffix": "svg"}, name="frozen_plot_svg"),
    path(f"{FROZEN}/plots/<slug:plot>.png", picture, {"suffix": "png"}, name="frozen_plot_png"),
    path("benchmarks/<slug:slug>/<slug:phase>/plots/<slug:plot>.svg", picture, {"suffix": "svg"}, name="plot_svg"),
    path("benchmarks/<slug:slug>/<slug:phase>/plots/<slug:plot>.png", picture, {"suffix": "png"}, name="plot_png"),
    path(f"{FROZEN}/roc/", roc, name="frozen_roc"),
    path("benchmarks/<slug:slug>/<slug:phase>/roc/", roc, name="roc"),
    path(f"{FROZEN}/agreement/", agreement, name="frozen_agreement"),
    path("benchmarks/<slug:slug>/<slug:phase>/agreement/", agreement, name="agreement"),
    path(f"{FROZEN}/cost/", cost_board, name="frozen_cost_board"),
    path(f"{FROZEN}/cite/", cite, name="frozen_cite"),
    path(f"{FROZEN}/badge.svg", badge, name="frozen_badge"),
    path(f"{FROZEN}/embed/", embed, name="frozen_embed"),
    path("benchmarks/<slug:slug>/<slug:phase>/by/track/", board_by_track, name="board_by_track"),
    path("benchmarks/<slug:slug>/<slug:phase>/by/<path:dimension>/", board_by_slice, name="board_by_slice"),
    path("benchmarks/<slug:slug>/<slug:phase>/two-way/<path:pair>/", two_way_board, name="two_way_board"),
    path("benchmarks/<slug:slug>/<slug:phase>/symmetric/", symmetric_board, name="symmetric_board"),
    path("benchmarks/<slug:slug>/<slug:phase>/cost/", cost_board, name="cost_board"),
    path("benchmarks/<slug:slug>/<slug:phase>/cite/", cite, name="cite"),
    path("benchmarks/<slug:slug>/<slug:phase>/badge.svg", badge, name="badge"),
    path("benchmarks/<slug:slug>/<slug:phase>/embed/", embed, name="embed"),
]
