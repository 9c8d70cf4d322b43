"""Processor time of every kind of address that needs no log-in, on a board of 50,000 systems.

Run with `HOLDOUT_DATABASE_URL=postgres://... bin/test -m benchmark -s tests/benchmark/test_anonymous_addresses.py`;
`ADDRESS_SYSTEMS=5000` measures a smaller board. It prints, for each address, the milliseconds of this process and of
its PostgreSQL session, and the memory that the request added at its peak. Caches work as on a site: what a process
reads once for a revision of a board is paid by the first address that needs it, and no address has been asked for
before since the last change of the board. With `ADDRESS_CACHES=off` every address pays for everything. The goal is
100 ms together (docs/adr/0089). It asserts no time.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from leaderboard.models import Leaderboard, Phase, Release, Standing
from leaderboard.scoring.actions import board_histories
from tests.benchmark.support.big_board import BigBoard
from tests.benchmark.support.measuring import Timer
from tests.support.rows.tiny_world import build

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SYSTEMS = int(os.environ.get("ADDRESS_SYSTEMS", "50000"))
GOAL = 100
"""Goal in milliseconds."""


def test_every_address_without_log_in(capsys: pytest.CaptureFixture[str], settings: Any) -> None:
    big = BigBoard(build(), n_teams=SYSTEMS)
    big.grow(SYSTEMS * 6 // 5)
    Leaderboard.objects.update(shown_from=timezone.now() - timedelta(days=40))
    board_histories.sweep(seconds=3600.0)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with capsys.disabled():
        print(f"\n{connection.vendor}, {SYSTEMS:,} systems, {Release.objects.count():,} releases")
        for address, headers in addresses():
            Client().get(address, headers=headers)  # imports, templates, what the code alone determines
        gc.collect()
        gc.freeze()  # as in a web process (leaderboard/wsgi.py): the objects that built the board are not counted
        settings.CACHES_RESPONSES = os.environ.get("ADDRESS_CACHES") != "off"
        cache.clear()
        report(measured() for measured in measurements())


@dataclass(frozen=True)
class Cost:
    """web, database: milliseconds of processor time. memory: MB at the peak, more than before."""

    address: str
    status: int
    size: int
    web: float
    database: float
    memory: float

    def __str__(self) -> str:
        over = "  OVER" if self.web + self.database > GOAL else ""
        spent = f"{self.web:8.1f} {self.database:8.1f} {self.memory:6.0f}"
        return f"{spent} {self.status} {self.size:11,}  {self.address}{over}"


def report(costs: Iterator[Cost]) -> None:
    """Print each cost, and how many addresses are over the goal."""
    print("  web ms    DB ms     MB              bytes  address")
    n = n_over = 0
    for cost in costs:
        print(cost, flush=True)
        n, n_over = n + 1, n_over + (cost.web + cost.database > GOAL)
    print(f"{n_over} of {n} addresses cost more than {GOAL} ms")


def measurements() -> Iterator:
    client = Client()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The time of parallel workers, which are other processes, would be missed.
            cursor.execute("SET max_parallel_workers_per_gather = 0")
    for address, headers in addresses():
        yield lambda address=address, headers=headers: cost_of(client, address, headers)


def cost_of(client: Client, address: str, headers: dict[str, str]) -> Cost:
    gc.collect()
    database = _database_seconds()
    with Timer() as timer:
        answer = client.get(address, headers=headers)
        size = sum(map(len, answer.streaming_content)) if answer.streaming else len(answer.content)
    shown = address + (" (If-None-Match)" if headers else "")
    spent = 1000 * (_database_seconds() - database)
    return Cost(shown, answer.status_code, size, 1000 * timer.processor, spent, timer.memory)


def _database_seconds() -> float:
    """Return the processor seconds of this connection's PostgreSQL session; 0 on SQLite."""
    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    time.sleep(0.002)  # the session has sent its answer and may still be ending its work
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def addresses() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (address, headers) of every kind of address that reads boards, systems or lists of them."""
    phase = Phase.objects.select_related("benchmark").get(slug="test", benchmark__slug="tiny")
    page, benchmark = "/benchmarks/tiny/test/", "/benchmarks/tiny/"
    api = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
    first, last = (phase.releases.order_by(order).values_list("released_at", flat=True)[0] for order in ("pk", "-pk"))
    days = {moment.date().isoformat() for moment in (first, last, first - timedelta(days=2), timezone.now())}
    standing = Standing.objects.filter(rank__isnull=False).select_related("system__team").order_by("rank").first()
    assert standing is not None
    system = standing.system
    named = f"system={quote(system.name)}&team={quote(system.team.name)}"
    searches = ["e", "49999", "zzz", "System 7", "a%00b", "x" * 800, " ".join("abcdefghij"), "%25", "_"]
    columns = [
        *("accuracy", "-accuracy", "fever_score", "rank", "-rank", "system", "-system", "team", "received_at"),
        *("released_at", "wall_seconds", "memory_mb", "accuracy[origin=original]", "-accuracy[origin=generated]"),
    ]
    bounds = ["at_least=0.5", "by=fever_score&at_most=0.1", "by=accuracy[origin=generated]&at_least=0.99"]
    for base in (f"{api}/", page):
        yield base, {}
        yield f"{base}?page={SYSTEMS // 300}", {}
        yield f"{base}?page={SYSTEMS // 150}", {}
        yield f"{base}?page=999999", {}
        for column in columns:
            yield f"{base}?sort={column}", {}
            yield f"{base}?sort={column}&page={SYSTEMS // 300}", {}
        for words in searches:
            yield f"{base}?search={words}", {}
            yield f"{base}?search={words}&page=5&sort=fever_score", {}
        for condition in (*bounds, "kind=participant", "kind=baseline", "slice=origin:original", "own=1"):
            yield f"{base}?{condition}", {}
        for day in sorted(days):
            yield f"{base}?as_of={day}", {}
            for more in (f"page={SYSTEMS // 300}", "sort=fever_score", "search=e", "at_least=0.5", "sort=system"):
                yield f"{base}?as_of={day}&{more}", {}
    yield f"{api}/?page_size=500", {}
    yield f"{api}/?page_size=500&slices=all", {}
    for suffix in ("csv", "tex", "md", "bib", "json"):
        yield f"{api}.{suffix}", {}
        yield f"{api}.{suffix}", {"If-None-Match": '"x"'}
    yield f"{api}.csv?slices=all", {}
    yield f"{api}.csv?page=40", {}
    yield f"{api}.csv?search=e", {}
    for day in sorted(days):
        yield f"{api}.csv?as_of={day}", {}
    yield f"{api}/comparisons/", {}
    yield f"{api}/plots/", {}
    for plot in ("intervals", "progress", "roc", "rank-agreement", "agreement", "significance", "cost", "pairs"):
        yield f"{api}/plots/{plot}/", {}
        yield f"{page}plots/{plot}.svg", {}
    for name in ("by/origin/", "by/label/", "by/track/", "symmetric/", "head-to-head/", "progress/", "significance/"):
        yield f"{page}{name}", {}
    yield f"{page}by/origin/?page=100&sort=macro", {}
    yield f"{page}by/origin/?measure=all&scale=board", {}
    yield f"{page}symmetric/?sort=system", {}
    yield f"{page}head-to-head/?a={system.pk}&b={system.pk + 1}", {}
    yield f"{page}progress/?download=csv", {}
    yield f"{page}significance/?download=csv", {}
    for name in ("pairs/", "roc/", "agreement/", "cost/", "cite/", "embed/"):
        yield f"{page}{name}", {}
    yield f"{page}cite/?system={system.pk}", {}
    yield f"{page}embed/?rows=5", {}
    yield f"{page}badge.svg?{named}", {}
    yield f"{page}badge.svg?system=nothing", {}
    frozen = f"{page}gold-{standing.leaderboard.gold_version.number}/task-1/"
    yield frozen, {}
    yield f"{frozen}cite/", {}
    for path in (
        "/",
        "/?search=e",
        "/feed.atom",
        f"{benchmark}feed.atom",
        "/sitemap.xml",
        "/robots.txt",
        "/status/",
        "/tasks/",
        "/about/",
        "/docs/",
        "/api/v1/benchmarks/",
        "/api/v1/benchmarks/?search=e",
        "/api/v1/benchmarks/tiny/",
        "/api/v1/benchmarks/tiny/croissant.json",
        "/api/v1/tasks/",
        "/api/v1/schema/",
        "/api/v1/docs/",
        benchmark,
        f"{benchmark}about/data/",
        f"{benchmark}about/rules/",
        f"{benchmark}about/submit/",
        f"{benchmark}croissant.json",
        f"{benchmark}splits/test/",
        f"/systems/{system.pk}/",
        f"/teams/{system.team_id}/",
        "/accounts/login/",
        "/schemas/benchmark.json",
        "/health/live",
        "/health/ready",
        "/nothing/",
    ):
        yield path, {}
