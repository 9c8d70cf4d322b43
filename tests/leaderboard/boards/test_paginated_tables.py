"""Tables by slice and by two dimensions are paginated with plain links; the best value is marked over all pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client, RequestFactory

from leaderboard.boards.web.tables import pages as cut
from leaderboard.models import Phase
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BASE = "/benchmarks/tiny/test/by/origin/"
CROSSED = "/benchmarks/tiny/test/two-way/origin/label/"
N = 5


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(cut, "SIZE", 2)
    world = build()
    Phase.objects.update(options={"cross": "origin,label"})
    for number in range(N):
        value = number / 10
        stand(
            world,
            f"System {number}",
            [
                score("accuracy", value),
                score("accuracy", 1 - value, 1, origin="original"),
                score("accuracy", value, 3, origin="generated"),
                score("accuracy", value, 1, origin="original", label="SUPPORTS"),
                score("accuracy", value, 3, origin="generated", label="REFUTES"),
            ],
        )
    return world


def page(address: str, **query: Any) -> str:
    answer = Client().get(address, query)
    assert answer.status_code == 200
    markup = answer.content.decode()
    assert read(markup).faults == []
    return markup


def systems(markup: str) -> list[int]:
    return sorted({int(number) for number in re.findall(r"System (\d)", markup)})


def addresses() -> list[tuple[str, dict[str, str]]]:
    return [
        (BASE, {"measure": "accuracy"}),
        (BASE, {"measure": "all"}),
        (CROSSED, {"view": "table"}),
        (CROSSED, {"view": "matrices"}),
    ]


@pytest.mark.parametrize(("address", "query"), addresses())
def test_pages_have_each_system_once(world: World, address: str, query: dict[str, str]) -> None:
    query_by_name = {**query, "sort": "system", "order": "asc"}
    pages = [Client().get(address, {**query_by_name, "page": number}).context for number in (1, 2, 3)]
    names = [[row.system for row in _rows(context)] for context in pages]
    assert names == [["System 0", "System 1"], ["System 2", "System 3"], ["System 4"]]


def _rows(context: Any) -> list[Any]:
    if "matrices" in context:
        return [matrix.row for matrix in context["matrices"]]
    rows = context["table"].rows if "table" in context else context["rows"]
    return [row for row, _ in rows]


@pytest.mark.parametrize(("address", "query"), addresses())
def test_links_go_both_ways_and_another_order_starts_on_page_one(
    world: World, address: str, query: dict[str, str]
) -> None:
    second = page(address, **query, page="2")
    assert "5 systems, page 2 of 3" in second
    assert re.search(r'href="\?[^"]*page=1"[^>]*rel="prev"', second)
    assert re.search(r'href="\?[^"]*page=3"[^>]*rel="next"', second)
    sorting = re.findall(r'href="(\?[^"]*sort=[^"]*)"', second)
    assert sorting and not any("page=" in link for link in sorting)
    first, last = page(address, **query), page(address, **query, page="3")
    assert 'rel="prev"' not in first and 'rel="next"' not in last


def test_the_best_is_marked_over_all_pages(world: World) -> None:
    # By micro accuracy the fifth is best, and on the originals the first, which is on the last page.
    pages = [page(BASE, measure="accuracy", page=number) for number in (1, 2, 3)]
    assert [len(re.findall(r'class="[^"]*\bbest\b', markup)) for markup in pages] == [2, 0, 1]


def test_the_picture_has_all_systems(world: World) -> None:
    picture = Client().get("/api/v1/benchmarks/tiny/phases/test/leaderboard/plots/matrices/?page=2").content.decode()
    assert systems(picture) == list(range(N))


@pytest.mark.parametrize(
    ("requested", "number"), [("", 1), ("0", 1), ("-1", 1), ("x", 1), ("\u0663", 1), ("9", 3), ("2", 2)]
)
def test_an_invalid_page_is_the_first_and_one_past_the_end_the_last(world: World, requested: str, number: int) -> None:
    page_cut = cut.TablePage.from_request(RequestFactory().get("/", {"page": requested}), N)
    assert (page_cut.number, page_cut.last) == (number, 3)


def test_without_systems_there_is_one_empty_page() -> None:
    page_cut = cut.TablePage.from_request(RequestFactory().get("/"), 0)
    assert (page_cut.number, page_cut.last, page_cut.before, page_cut.after, page_cut.of([])) == (1, 1, None, None, [])
