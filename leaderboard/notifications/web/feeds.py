"""New results as an Atom feed: what boards show, the latest first. Of the site, and of one benchmark with what its
organisers announce and correct."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries import Board, Row, board_of
from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.core.plain_text import one_line
from leaderboard.core.web.public_responses import SECONDS
from leaderboard.datasets.queries.errata import Erratum, errata_of
from leaderboard.models import Announcement, Benchmark, Leaderboard, Phase

ENTRIES, BOARDS = 50, 20
"""The most of each that a feed looks at."""
BEGINNING = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
"""The date of a feed without an entry: it stays, and so does its ETag."""


class _Feed(Atom1Feed):
    def latest_post_date(self) -> datetime:
        return super().latest_post_date() if self.items else BEGINNING

    def add_item_elements(self, handler: Any, item: dict[str, Any]) -> None:
        """Django calls a summary HTML, and readers would take the names in it for markup: it is text."""
        super().add_item_elements(handler, {**item, "description": None})
        handler.addQuickElement("summary", item["description"], {"type": "text"})


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
def site_feed(request: HttpRequest) -> HttpResponse:
    phases = Phase.objects.filter(benchmark__in=Benchmark.objects.public())
    return _written("New results", reverse("home"), request.path, phases)


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
def benchmark_feed(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_or_404(None, slug)
    title = f"{one_line(benchmark.title)}: new results"
    announced = benchmark.announcements.select_related("benchmark")[:ENTRIES]
    errata = errata_of(benchmark, reader=AnonymousUser())[:ENTRIES]
    return _written(title, benchmark.get_absolute_url(), request.path, benchmark.phases.all(), [*announced, *errata])


def _written(
    title: str,
    page: str,
    own: str,
    phases: Iterable[Phase],
    told: Iterable[Announcement | Erratum] = (),
) -> HttpResponse:
    found = [(board, row) for board in _boards(phases) for row in board.rows]
    found.sort(key=lambda pair: pair[1].released_at, reverse=True)
    feed = _Feed(
        title=f"{title} · Holdout",
        link=settings.BASE_URL + page,
        description=None,
        feed_url=settings.BASE_URL + own,
        language="en",
    )
    for one in told:
        if isinstance(one, Announcement):
            _announce(feed, one)
        else:
            _correct(feed, one, settings.BASE_URL + page)
    for board, row in found[:ENTRIES]:
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
        pubdate=announcement.made_at,
        updateddate=announcement.made_at,
    )


def _correct(feed: Atom1Feed, erratum: Erratum, page: str) -> None:
    """One entry a corrected gold version; it keeps its id, whatever becomes of the scoring."""
    gold, link = erratum.gold, f"{page}#{erratum.anchor}"
    count = "" if erratum.n_changed is None else f" {erratum.n_changed} item{'' if erratum.n_changed == 1 else 's'}."
    feed.add_item(
        title=f"Gold of {gold.split.name} corrected: version {gold.number}",
        link=link,
        description=f"{one_line(gold.reason)}{count} ({erratum.state})",
        unique_id=f"urn:uuid:{uuid5(NAMESPACE_URL, link)}",
        pubdate=gold.created_at,
        updateddate=gold.created_at,
    )


def _boards(phases: Iterable[Phase]) -> list[Board]:
    """The boards that are shown, with the latest release first: what no board shows is in no feed."""
    shown = Leaderboard.objects.filter(phase__in=phases, state=Leaderboard.State.CURRENT)
    dated = shown.annotate(last=Max("standings__release__released_at")).filter(last__isnull=False)
    newest = dated.select_related("phase__benchmark__dataset", "phase__split").order_by("-last")[:BOARDS]
    return [board_of(board.phase, within=()) for board in newest]


def _add(feed: Atom1Feed, board: Board, row: Row) -> None:
    """One entry a system's standing submission. Scored again it keeps its id: readers see a change, nothing new."""
    benchmark: Benchmark = board.phase.benchmark
    value = row.cell(board.primary).value
    told = f"{board.primary} {'none' if value is None else format(value, '.3f')}"
    place = ", disqualified" if row.disqualified else "" if row.rank is None else f", rank {row.rank}"
    where = f"{one_line(benchmark.title)}, {one_line(board.phase.title)}"
    made_of = board.leaderboard
    versions = f"gold version {made_of.gold_version.number}, task version {made_of.task_version}" if made_of else ""
    feed.add_item(
        title=f"{one_line(row.system)}: {told}{place} · {where}",
        link=settings.BASE_URL + board.phase.get_absolute_url(),
        description=f"{one_line(row.system)} by {one_line(row.team)} on {where}: {told}{place} ({versions}).",
        unique_id=f"urn:uuid:{row.submission_id}",
        author_name=one_line(row.team),
        pubdate=row.received_at,
        updateddate=row.released_at,
    )
