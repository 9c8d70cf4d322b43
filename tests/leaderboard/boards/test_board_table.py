"""The table of a board's page: search, chips of active filters, the viewer's own rows, reference rows, the leader."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from msgspec import structs

from leaderboard.boards.queries import Ranges
from leaderboard.boards.web.tables.row_cells import may_lead, rank_html
from leaderboard.models import Leaderboard, Standing, System, Team
from tests.support.row_factory import row
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
PAGE = "/benchmarks/tiny/test/"


def built() -> World:
    new_world = build()
    stand(new_world, "Best of all", [score("accuracy", 0.9)], kind="baseline")
    stand(
        new_world,
        "First",
        [score("accuracy", 0.8), score("accuracy", 0.7, origin="original")],
        paper_url="https://paper.example/1",
    )
    stand(new_world, "Foreign", [score("accuracy", 0.7)], team="Others")
    return new_world


world, _django_db_helper = shared_states(world=built)


def text(address: str, client: Client | None = None) -> str:
    response = (client or Client()).get(address)
    assert response.status_code == 200
    return response.content.decode()


def shown(page: str) -> list[str]:
    return re.findall(r'<tr id="system-\d+".*?class="system-name" dir="auto">([^<]+)', page, re.DOTALL)


def test_reference_rows_follow_the_ranked_ones_below_a_rule(world: World) -> None:
    page = text(PAGE)
    assert shown(page) == ["First", "Foreign", "Best of all"]
    assert page.index("Foreign") < page.index('<tbody class="references">') < page.index("Best of all</span>")
    assert shown(text(f"{PAGE}?sort=accuracy&order=asc")) == ["Foreign", "First", "Best of all"]
    alone = text(f"{PAGE}?kind=baseline")
    assert shown(alone) == ["Best of all"] and alone.count("<tbody") == 1
    rows = Client().get("/api/v1/benchmarks/tiny/phases/test/leaderboard/").json()["rows"]
    assert [r["system"] for r in rows] == ["Best of all", "First", "Foreign"], "the API keeps the order of the scores"


def test_each_active_filter_is_a_chip_that_removes_it(world: World) -> None:
    page = text(f"{PAGE}?search=first&kind=participant&at_least=0.5&by=accuracy&slice=")
    chips = {
        unescape(name): unescape(url)
        for url, name in re.findall(r'<a class="chip" href="([^"]+)"[^>]*><bdi>([^<]+)</bdi>', page)
    }
    assert list(chips) == ["participant only", "name contains “first”", "Accuracy at least 0.5"]
    assert chips["participant only"] == f"{PAGE}?search=first&at_least=0.5&by=accuracy"
    assert "1 of 3 systems" in page
    for url in chips.values():
        assert text(url).count('class="chip"') == 2
    assert 'class="chip"' not in text(PAGE)


def test_search_needs_no_unfolding(world: World) -> None:
    page = text(PAGE)
    assert page.index('name="search"') < page.index('<details class="asking-more">') < page.index('name="kind"')


def test_mine_shows_the_systems_of_the_viewers_teams(world: World) -> None:
    assert shown(text(f"{PAGE}?own=1")) == [] and "Only mine" not in text(PAGE)
    client = Client()
    client.force_login(world.researcher)
    assert shown(text(f"{PAGE}?own=1", client)) == ["First", "Best of all"]
    assert 'name="own" value="1" checked' in text(f"{PAGE}?own=1", client)
    day = Leaderboard.objects.get().shown_from.date().isoformat()
    assert sorted(shown(text(f"{PAGE}?own=1&as_of={day}", client))) == ["Best of all", "First"]
    assert shown(text(f"{PAGE}?own=1&as_of={day}")) == []
    assert not Team.objects.get(name="Others").members.filter(pk=world.researcher.pk).exists()


def test_own_systems_that_a_filter_leaves_out_are_linked_by_a_search(world: World) -> None:
    client = Client()
    client.force_login(world.researcher)
    standing = Standing.objects.get(system__name="First")
    link = f'#system-{standing.system_id}"><bdi>First'
    assert f'href="{link}' in text(PAGE, client)
    assert f'href="{PAGE}?search=First{link}' in text(f"{PAGE}?kind=baseline", client)


def test_own_systems_stay_anonymous_to_others(world: World) -> None:
    """The filter `own` must not tell which team an anonymous system belongs to."""
    standing = Standing.objects.get(system__name="Foreign")
    System.objects.filter(pk=standing.system_id).update(anonymous_until="2100-01-01T00:00Z", anonymous_number=7)
    client = Client()
    client.force_login(world.researcher)
    assert "Anonymous 7" not in shown(text(f"{PAGE}?own=1", client))


def test_measures_have_titles_arrows_and_an_explanation_on_the_page(world: World) -> None:
    page = text(PAGE)
    assert 'title="Sort by Accuracy (accuracy)"' in page and "higher is better" in page
    assert '<button type="button" class="about" popovertarget="about-accuracy-"' in page
    assert re.search(r'<div class="about-text" popover id="about-accuracy-"', page)
    heads = Client().get("/api/v1/benchmarks/tiny/phases/test/leaderboard.csv").content.decode().partition("\n")[0]
    assert ",accuracy," in heads, "the CSV has the names that programs use"


def test_links_to_paper_and_code_are_in_the_row(world: World) -> None:
    assert '<a class="link-chip" href="https://paper.example/1" rel="nofollow noopener">paper</a>' in text(PAGE)


@pytest.mark.parametrize(
    ("rank", "low", "ranges", "leads"),
    [
        (1, None, Ranges.NONE, True),
        (2, 1, Ranges.READY, True),
        (2, 1, Ranges.COMPUTING, False),
        (2, 2, Ranges.READY, False),
        (None, None, Ranges.READY, False),
    ],
)
def test_who_may_lead_is_marked(rank: int | None, low: int | None, ranges: Ranges, leads: bool) -> None:
    shown_row = structs.replace(row("A", {}), rank=rank, rank_low=low)
    assert may_lead(shown_row, ranges) is leads
    assert ("rank-top" in rank_html(shown_row, is_top=leads)) is leads


@pytest.mark.parametrize("board", ["", "by/origin/"])
def test_keyboard_users_skip_to_the_table(world: World, board: str) -> None:
    page = text(PAGE + board)
    target = re.search(r'<a class="skip" href="#(\w+)">Skip to the table</a>', page)
    assert target and re.search(rf'<div class="table-scroll" id="{target[1]}" tabindex="0"', page)
