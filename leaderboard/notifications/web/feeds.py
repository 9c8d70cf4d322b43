"""Atom feeds of the results that boards show, latest first: one feed for the site, and one for each benchmark.

A benchmark's feed also has its announcements and its corrections of gold.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries import Board, Row, board_of
from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.boards.web.tables.number_format import shown_value
from leaderboard.core.text.plain_text import one_line
from leaderboard.core.web.public_responses import SECONDS
from leaderboard.datasets.queries.errata import Erratum, errata_of
from leaderboard.models import Announcement, Benchmark, Leaderboard, Phase, Standing

ENTRIES, BOARDS = 50, 20
"""ENTRIES: maximum number of results, of announcements and of corrections in a feed. BOARDS: maximum number of boards
from which a feed takes its results."""
BEGINNING = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
"""Date of an empty feed. It is constant, so that the ETag of an empty feed does not change."""


class _Feed(Atom1Feed):
    def latest_post_date(self) -> datetime:
        return super().latest_post_date() if self.items else BEGINNING

    def add_item_elements(self, handler: Any, item: dict[str, Any]) -> None:
        """Declare the summary as text. Django declares it as HTML, and readers would interpret markup in names."""
        super().add_item_elements(handler, {**item, "description": None})
        handler.addQuickElement("summary", item["description"], {"type": "text"})


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
def site_feed(request: HttpRequest) -> HttpResponse:
    phases = Phase.objects.filter(benchmark__in=Benchmark.objects.public())
    return _response("New results", reverse("home"), request.path, phases)


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
def benchmark_feed(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_or_404(None, slug)
    title = f"{one_line(benchmark.title)}: new results"
    announced = benchmark.announcements.select_related("benchmark")[:ENTRIES]
    errata = errata_of(benchmark, viewer=AnonymousUser())[:ENTRIES]
    return _response(title, benchmark.get_absolute_url(), request.path, benchmark.phases.all(), [*announced, *errata])


def _response(
    title: str,
    page: str,
    path: str,
    phases: Iterable[Phase],
    events: Iterable[Announcement | Erratum] = (),
) -> HttpResponse:
    results = [(board, row) for board in _boards(phases) for row in board.rows]
    results.sort(key=lambda pair: pair[1].released_at, reverse=True)
    feed = _Feed(
        title=f"{title} · Holdout",
        link=settings.BASE_URL + page,
        description=None,
        feed_url=settings.BASE_URL + path,
        language="en",
    )
    for event in events:
        if isinstance(event, Announcement):
            _announce(feed, event)
        else:
            _correct(feed, event, settings.BASE_URL + page)
    for board, row in results[:ENTRIES]:
        _add(feed, board, row)
    return HttpResponse(feed.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def _announce(feed: Atom1Feed, announcement: Announcement) -> None:
    page = settings.BASE_URL + announcement.benchmark.get_absolute_url()
    feed.add_item(
        title=one_line(announcement.title),
        link=f"{page}#announcement-{announcement.pk}",
        description="\n".join(one_line(line) for line in announcement.text.splitlines()),
        unique_id=f"urn:uuid:{announcement.pk}",
        author_name=one_line(announcement.benchmark.title),
        pubdate=announcement.created_at,
        updateddate=announcement.created_at,
    )


def _correct(feed: Atom1Feed, erratum: Erratum, page: str) -> None:
    """Add an entry for a corrected gold version to a feed. page: address of the page that describes it.

    The entry keeps its id when the rescoring proceeds, so feed readers show an update instead of a new entry.
    """
    gold, identity = erratum.gold, f"{page}#{erratum.anchor}"
    count = "" if erratum.n_changed is None else f" {erratum.n_changed} item{'' if erratum.n_changed == 1 else 's'}."
    feed.add_item(
        title=f"Gold of {gold.split.name} corrected: version {gold.number}",
        link=f"{page}about/data/#{erratum.anchor}",
        description=f"{one_line(gold.reason)}{count} ({erratum.state})",
        unique_id=f"urn:uuid:{uuid5(NAMESPACE_URL, identity)}",
        pubdate=gold.created_at,
        updateddate=gold.created_at,
    )


def _boards(phases: Iterable[Phase]) -> list[Board]:
    """Return the BOARDS current boards of the phases with the latest results, the latest first.

    No other boards are in a feed.
    """
    shown = Leaderboard.objects.filter(phase__in=phases, state=Leaderboard.State.CURRENT)
    # Releases are numbered in the order in which they are made; their dates would have to be read from a large table.
    last = Standing.objects.filter(leaderboard=OuterRef("pk")).order_by("-release_id").values("release_id")
    dated = shown.annotate(last=Subquery(last[:1])).filter(last__isnull=False)
    newest = dated.select_related("phase__benchmark__dataset", "phase__split").order_by("-last")[:BOARDS]
    return [
        board_of(
            board.phase,
            within=(),
            most=0,
            systems=list(board.standings.order_by("-release_id").values_list("system", flat=True)[:ENTRIES]),
        )
        for board in newest
    ]


def _add(feed: Atom1Feed, board: Board, row: Row) -> None:
    """Add an entry for the submission that represents a system.

    The entry keeps its id when the submission is rescored, so feed readers show an update instead of a new entry.
    """
    benchmark: Benchmark = board.phase.benchmark
    shown = row.score(board.primary)
    score = f"{board.primary} {'none' if shown.value is None else shown_value(shown)}"
    rank = ", disqualified" if row.disqualified else "" if row.rank is None else f", rank {row.rank}"
    location = f"{one_line(benchmark.title)}, {one_line(board.phase.title)}"
    leaderboard = board.leaderboard
    versions = (
        f"gold version {leaderboard.gold_version.number}, task version {leaderboard.task_version}"
        if leaderboard
        else ""
    )
    feed.add_item(
        title=f"{one_line(row.system)}: {score}{rank} · {location}",
        link=settings.BASE_URL + board.phase.get_absolute_url(),
        description=f"{one_line(row.system)} by {one_line(row.team)} on {location}: {score}{rank} ({versions}).",
        unique_id=f"urn:uuid:{row.submission_id}",
        author_name=one_line(row.team),
        pubdate=row.received_at,
        updateddate=row.released_at,
    )
