"""Boards with more systems than a request reads: no address reads more, and what they show is right."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.benchmarks.web import benchmark as benchmark_page
from leaderboard.boards.api import exports
from leaderboard.boards.api import request as api_request
from leaderboard.boards.queries import lookup, paging, parse, read_head, reading
from leaderboard.boards.web.pages import embed as embed_page
from leaderboard.models import Leaderboard, Phase, Standing, System
from leaderboard.submissions.actions import hide
from leaderboard.web_urls import public
from tests.support.api_calls import ROOT, client_of, error_of, person
from tests.support.rows.board_queries import applied
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard"
PAGE = "/benchmarks/tiny/test/"
MOST, N = 4, 11
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = "2026-03-20"


def built() -> World:
    world, draw = build(), random.Random(7)
    for number in range(N):
        value = draw.choice([0.25, 0.5, 0.5, 0.75, draw.random()])
        stand(
            world,
            f"Engine-{number:02}",
            symmetric_scores(value, original=draw.random()),
            team=f"Lab-{number:02}",
            at=FIRST + timedelta(hours=number),
            kind="baseline" if number in (3, 8) else "participant",
        )
    Leaderboard.objects.update(shown_from=FIRST)
    return world


world, _django_db_helper = shared_states(world=built)


@pytest.fixture(autouse=True)
def read(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Lower the limit, and collect how many rows each reading of a board has read."""
    for module in (paging, lookup, exports, api_request):
        monkeypatch.setattr(module, "MOST_ROWS", MOST)
    monkeypatch.setattr(benchmark_page, "SHOWN", 0)
    monkeypatch.setattr(embed_page, "MOST", MOST)
    built_rows: list[int] = []
    lines_of = reading.lines_of

    def counted(standings: Any) -> Any:
        lines = lines_of(standings)
        built_rows.append(len(lines))
        return lines

    monkeypatch.setattr(reading, "lines_of", counted)
    monkeypatch.setattr(paging, "lines_of", counted)
    yield built_rows


def whole(as_of: str = "") -> Any:
    phase = Phase.objects.select_related("benchmark__dataset", "split", "scorer").get()
    board = reading.board_of(phase)
    assert len(board.rows) == N
    return read_head(phase, as_of), board.rows


@pytest.mark.parametrize("as_of", ["", DAY])
@pytest.mark.parametrize(
    "query", [{}, {"sort": "-accuracy"}, {"at_least": "0.5"}, {"at_least": "0.3", "at_most": "0.6"}]
)
def test_all_rows_are_paged_in_the_order_of_the_primary_measure(query: dict[str, str], as_of: str) -> None:
    head, rows = whole(as_of)
    expected = applied(rows, parse(head, query))
    found: list[Any] = []
    for number in range(1, N + 1):
        page = paging.page_of(head, parse(head, {**query, "page": str(number), "page_size": "3"}))
        found += page.board.rows
        assert page.n == len(expected)
    assert [row.system_id for row in found] == [row.system_id for row in expected]
    assert len(found) > MOST or "at_most" in query
    assert [(row.rank, row.tied) for row in found] == [(row.rank, row.tied) for row in expected]


@pytest.mark.parametrize("sort", ["accuracy", "-accuracy"])
def test_disqualified_systems_are_paged_last(sort: str) -> None:
    _, rows = whole()
    out = [row.system_id for row in rows[2:7:2]]
    Standing.objects.filter(system__in=out).update(disqualified="It saw the gold.", rank=None)
    head, rows = whole()
    expected = [row.system_id for row in applied(rows, parse(head, {"sort": sort}))]
    assert set(expected[-len(out) :]) == set(out)
    queries = (parse(head, {"sort": sort, "page": str(number), "page_size": "3"}) for number in range(1, N + 1))
    found = [row.system_id for query in queries for row in paging.page_of(head, query).board.rows]
    assert found == expected


@pytest.mark.parametrize("as_of", ["", DAY])
@pytest.mark.parametrize(
    "query", [{"sort": "symmetric_gap"}, {"sort": "system"}, {"search": "e a"}, {"slice": "origin:original"}]
)
def test_other_orders_and_filters_take_the_best(query: dict[str, str], as_of: str) -> None:
    head, rows = whole(as_of)
    best = applied(rows, parse(head, {}))[:MOST]
    page = paging.page_of(head, parse(head, query))
    assert [row.system_id for row in page.board.rows] == [row.system_id for row in applied(best, parse(head, query))]
    assert page.n == MOST


@pytest.mark.parametrize("as_of", ["", DAY])
def test_a_rare_word_finds_any_system_and_a_kind_all_of_it(as_of: str) -> None:
    head, rows = whole(as_of)
    last = applied(rows, parse(head, {}))[-1]
    number = last.system.removeprefix("Engine-")
    for words in (last.system.upper(), f"{last.team} gin", f"engine {number}", number, "nothing"):
        query = parse(head, {"search": words})
        expected = [row.system_id for row in applied(rows, query)]
        assert [row.system_id for row in paging.page_of(head, query).board.rows] == expected
        assert expected == ([] if words == "nothing" else [last.system_id])
    baselines = parse(head, {"kind": "baseline"})
    found = paging.page_of(head, baselines).board.rows
    assert [row.system_id for row in found] == [row.system_id for row in applied(rows, baselines)] and len(found) == 2


@pytest.mark.parametrize("as_of", ["", DAY])
def test_own_systems_are_found_whatever_other_boards_they_are_on(world: World, as_of: str) -> None:
    head, rows = whole(as_of)
    last = applied(rows, parse(head, {}))[-1]
    team, user = System.objects.get(pk=last.system_id).team, person("owner")
    team.members.add(user)
    for number in range(MOST + 1):
        System.objects.create(team=team, name=f"A {number}", kind=last.kind)
    found = paging.page_of(head, parse(head, {"own": "yes"}), viewer=user)
    assert [row.system_id for row in found.board.rows] == [last.system_id] and found.n == 1


def test_a_system_that_has_left_the_board_is_on_the_past_one(world: World) -> None:
    baseline = System.objects.get(name="Engine-03")
    submission = baseline.submissions.get()
    world.benchmark.organisers.add(world.curator)
    hide.hide(submission=submission, reason="a test", by=world.curator)
    until = datetime.now(UTC) + timedelta(days=1)
    System.objects.filter(pk=baseline.pk).update(anonymous_until=until, anonymous_number=7)
    for query in ("kind=baseline", "search=Anonymous"):
        assert "Anonymous 7" not in Client().get(f"{API}/?{query}").content.decode()
        assert "Anonymous 7" in Client().get(f"{API}/?{query}&as_of={DAY}").content.decode()


def test_a_hidden_name_is_not_found(world: World) -> None:
    until = datetime.now(UTC) + timedelta(days=1)
    System.objects.filter(name="Engine-05").update(anonymous_until=until, anonymous_number=7)
    assert Client().get(f"{API}/?search=Engine-05").json()["count"] == 0
    assert Client().get(f"{API}/?search=Lab-05").json()["count"] == 0
    assert [row["system"] for row in Client().get(f"{API}/?search=Anonymous").json()["rows"]] == ["Anonymous 7"]


@pytest.mark.parametrize("suffix", ["csv", "tex", "md"])
def test_files_together_have_all_rows(suffix: str) -> None:
    address: str | None = f"{API}.{suffix}"
    names, found = [], []
    while address:
        answer = Client().get(address)
        names.append(answer["Content-Disposition"].partition('"')[2].rstrip('"'))
        found += re.findall(r"Engine-\d+", answer.content.decode())
        following = re.search(r'<http://testserver([^>]+)>; rel="next"', answer.get("Link", ""))
        address = following and following[1]
    assert names == [f"tiny-test-leaderboard-rows-{rows}-of-11.{suffix}" for rows in ("1-to-4", "5-to-8", "9-to-11")]
    assert len(found) == N and set(found) == {f"Engine-{number:02}" for number in range(N)}


def test_pages_say_that_they_show_the_best(world: World) -> None:
    text = Client().get(f"{PAGE}by/origin/").content.decode()
    assert "4 of the 11 systems, the best by the primary measure" in text
    assert "of the 11 systems" not in Client().get(PAGE).content.decode()


def test_any_two_systems_are_compared_and_any_has_a_badge() -> None:
    _, rows = whole()
    a, b = sorted(rows, key=lambda row: row.score("accuracy").value)[:2]
    text = Client().get(f"{PAGE}head-to-head/?a={a.system_id}&b={b.system_id}").content.decode()
    assert a.system in text and b.system in text
    badge = Client().get(f"{PAGE}badge.svg", {"system": a.system})
    ranked = sum(row.rank is not None for row in rows)
    assert badge.status_code == 200 and (a.rank is None or f"of {ranked}" in badge.content.decode())


def test_a_digest_of_a_large_board_needs_a_log_in() -> None:
    refused = Client().get(f"{API}.json")
    assert refused.status_code == 401 and "11 systems" in error_of(refused)["message"]
    api = client_of(person("reader"))
    assert len(api.get(f"{API}.json").json()["rows"]) == N
    assert "SHA-256" not in Client().get(f"{API}.bib").content.decode()
    assert "SHA-256" in api.get(f"{API}.bib").content.decode()
    page = Client().get(f"{PAGE}cite/").content.decode()
    assert "log in" in page.lower() and "SHA-256</dt>" not in page


def test_the_badge_of_a_large_board_is_of_the_same_system_without_a_log_in(world: World) -> None:
    stand(world, "Reference", symmetric_scores(1.0, original=1.0), team="Lab-99", at=FIRST, kind="baseline")
    client = Client()
    client.force_login(person("reader"))
    ours, theirs = (
        re.search('alt="(Badge of [^"]+)"', reader.get(f"{PAGE}cite/").content.decode())
        for reader in (Client(), client)
    )
    assert ours and theirs and ours[1] == theirs[1] != "Badge of Reference"


def addresses() -> list[str]:
    """Return the pages and API addresses of a phase that need no log-in."""
    names = [
        pattern.name
        for pattern in public.urlpatterns
        if "<slug:phase>" in str(pattern.pattern) and "<int:gold>" not in str(pattern.pattern)
    ]
    more: dict[str, dict[str, str]] = {
        "board_by_slice": {"dimension": "origin"},
        "two_way_board": {"pair": "origin/label"},
        "plot_svg": {"plot": "significance"},
        "plot_png": {"plot": "progress"},
    }
    pages = [reverse(name, kwargs={"slug": "tiny", "phase": "test", **more.get(name, {})}) for name in names]
    suffixes = ("/", ".csv", ".tex", ".md", ".bib", ".json", "/comparisons/", "/plots/", "/plots/intervals/")
    return [*pages, *(f"{API}{suffix}" for suffix in suffixes), "/benchmarks/tiny/"]


def test_no_address_without_log_in_reads_more_than_the_limit(read: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_ROWS", MOST)
    queries = ("", "?page_size=4", "?sort=system&page_size=4", f"?as_of={DAY}&page_size=4", "?slices=all&page_size=4")
    visited = 0
    for address in addresses():
        for query in queries:
            read.clear()
            is_page = address in (PAGE, f"{API}/") or "intervals" in address
            if is_page and "page_size" not in query:
                continue
            assert Client().get(address + query).status_code in (200, 401, 404), address
            assert max(read, default=0) <= MOST, (address + query, read)
            visited += bool(read)
    assert visited > 40
