"""Addresses of the pages that everyone may read."""

from django.urls import path

from leaderboard.web.public.agreement import agreement
from leaderboard.web.public.apart import apart
from leaderboard.web.public.badge import badge
from leaderboard.web.public.benchmark import benchmark
from leaderboard.web.public.by_slice import board_by_slice
from leaderboard.web.public.by_track import board_by_track
from leaderboard.web.public.cite import cite
from leaderboard.web.public.cost import cost_board
from leaderboard.web.public.crossed import crossed_board
from leaderboard.web.public.downloads import download_file, download_gold, download_inputs
from leaderboard.web.public.embed import embed
from leaderboard.web.public.feeds import benchmark_feed, site_feed
from leaderboard.web.public.home import home
from leaderboard.web.public.leaderboard import leaderboard
from leaderboard.web.public.pairs import pairs
from leaderboard.web.public.progress import progress
from leaderboard.web.public.roc import roc
from leaderboard.web.public.scorers import scorer
from leaderboard.web.public.side_by_side import side_by_side
from leaderboard.web.public.split import archive, split
from leaderboard.web.public.symmetric import symmetric_board
from leaderboard.web.public.system import system
from leaderboard.web.public.tasks import measures, tasks

FROZEN = "benchmarks/<slug:slug>/<slug:phase>/gold-<int:gold>/task-<int:task_version>"
"""A board that was shown before; beneath it the same views as of the current one."""

urlpatterns = [
    path("", home, name="home"),
    path("feed.atom", site_feed, name="site_feed"),
    path("tasks/", tasks, name="tasks"),
    path("tasks/<slug:task>/", measures, name="measures"),
    path("systems/<int:pk>/", system, name="system"),
    path("benchmarks/<slug:slug>/", benchmark, name="benchmark"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/", split, name="split"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/archive.zip", archive, name="download_archive"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/inputs.jsonl", download_inputs, name="download_inputs"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/gold.jsonl", download_gold, name="download_gold"),
    path("benchmarks/<slug:slug>/scorers/<int:number>/", scorer, name="scorer_measures"),
    path("benchmarks/<slug:slug>/downloads/<slug:name>", download_file, name="download_file"),
    path("benchmarks/<slug:slug>/feed.atom", benchmark_feed, name="benchmark_feed"),
    path("benchmarks/<slug:slug>/<slug:phase>/", leaderboard, name="leaderboard"),
    path(f"{FROZEN}/", leaderboard, name="frozen_board"),
    path(f"{FROZEN}/by/track/", board_by_track, name="frozen_board_by_track"),
    path(f"{FROZEN}/by/<path:dimension>/", board_by_slice, name="frozen_board_by_slice"),
    path(f"{FROZEN}/cross/<path:pair>/", crossed_board, name="frozen_crossed_board"),
    path(f"{FROZEN}/symmetric/", symmetric_board, name="frozen_symmetric_board"),
    path(f"{FROZEN}/side-by-side/", side_by_side, name="frozen_side_by_side"),
    path("benchmarks/<slug:slug>/<slug:phase>/side-by-side/", side_by_side, name="side_by_side"),
    path(f"{FROZEN}/progress/", progress, name="frozen_progress"),
    path("benchmarks/<slug:slug>/<slug:phase>/progress/", progress, name="progress"),
    path(f"{FROZEN}/apart/", apart, name="frozen_apart"),
    path("benchmarks/<slug:slug>/<slug:phase>/apart/", apart, name="apart"),
    path(f"{FROZEN}/pairs/", pairs, name="frozen_pairs"),
    path("benchmarks/<slug:slug>/<slug:phase>/pairs/", pairs, name="pairs"),
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
    path("benchmarks/<slug:slug>/<slug:phase>/cross/<path:pair>/", crossed_board, name="crossed_board"),
    path("benchmarks/<slug:slug>/<slug:phase>/symmetric/", symmetric_board, name="symmetric_board"),
    path("benchmarks/<slug:slug>/<slug:phase>/cost/", cost_board, name="cost_board"),
    path("benchmarks/<slug:slug>/<slug:phase>/cite/", cite, name="cite"),
    path("benchmarks/<slug:slug>/<slug:phase>/badge.svg", badge, name="badge"),
    path("benchmarks/<slug:slug>/<slug:phase>/embed/", embed, name="embed"),
]
