"""A scored submission's page says where it is on the board, and leads there."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.boards.queries.submission_result import result_of
from leaderboard.models import Leaderboard, Phase, Release, Standing, System
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
NOW = timezone.now()


world, _django_db_helper = shared_states(world=build)


def stood(world: World, name: str, value: float, *, hours: int = 0, **more: str) -> Release:
    release = stand(world, name, [score("accuracy", value)], at=NOW + timedelta(hours=hours), **more)
    return Release.objects.select_related("phase__benchmark", "submission", "run").get(pk=release.pk)


def page_of(world: World, release: Release) -> str:
    client = Client()
    client.force_login(world.researcher)
    response = client.get(release.submission.get_absolute_url())
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def test_rank_and_differences(world: World) -> None:
    stood(world, "Leader", 0.9, team="Others")
    stood(world, "Bernoulli", 0.5, hours=1)
    second = stood(world, "Pascaline", 0.7, hours=2)
    result = result_of(second)
    assert result is not None and result.is_shown and not result.is_tied
    assert (result.entry.standing.rank, result.n_ranked) == (2, 3)
    assert result.gain == pytest.approx(0.2) and result.lead == pytest.approx(-0.2)
    page = page_of(world, second)
    assert "<strong>2nd of 3</strong>." in page and "compared with the leader" in page
    assert ">+0.200</strong> compared with your team" in page


def test_the_leader_is_compared_with_the_next_system(world: World) -> None:
    stood(world, "Second", 0.5, team="Others")
    first = stood(world, "Bernoulli", 0.75, hours=1)
    result = result_of(first)
    assert result is not None and result.gain is None and result.lead == pytest.approx(0.25)
    assert "compared with the next system" in page_of(world, first)


def test_a_submission_below_the_best_of_its_system_leads_to_that(world: World) -> None:
    best = stood(world, "Bernoulli", 0.8)
    worse = stood(world, "Bernoulli", 0.6, hours=1)
    result = result_of(worse)
    assert result is not None and not result.is_shown and result.gain == pytest.approx(-0.2)
    assert f'another submission of this system: <a href="{best.submission.get_absolute_url()}">' in page_of(
        world, worse
    )


def test_links_lead_to_its_own_row_badge_and_comparison(world: World) -> None:
    leader = stood(world, "Leader", 0.9, team="Others")
    own = stood(world, "Bernoulli", 0.5, hours=1)
    system, rival = own.submission.system_id, leader.submission.system_id
    page = page_of(world, own)
    assert f'href="/benchmarks/tiny/test/#system-{system}"' in page
    assert f'<tr id="system-{system}"' in Client().get("/benchmarks/tiny/test/").content.decode()
    assert f"/benchmarks/tiny/test/head-to-head/?a={system}&amp;b={rival}" in page
    badge = re.search(r'href="(/benchmarks/tiny/test/cite/\?system=\d+)#badge"', page)
    assert badge and "Badge of Bernoulli" in Client().get(badge[1]).content.decode()


def test_a_ladder_shows_no_differences_of_rounded_scores(world: World) -> None:
    stood(world, "Leader", 0.9, team="Others")
    own = stood(world, "Bernoulli", 0.5, hours=1)
    Phase.objects.update(disclosure="ladder")
    result = result_of(Release.objects.select_related("phase__benchmark", "submission", "run").get(pk=own.pk))
    assert result is not None and result.entry.standing.rank == 2 and result.gain is result.lead is None
    assert "compared with" not in page_of(world, own)


def test_no_result_on_a_replaced_board(world: World) -> None:
    own = stood(world, "Bernoulli", 0.5)
    Leaderboard.objects.update(task_version=2)
    assert result_of(own) is None
    assert "of 1</strong>" not in page_of(world, own)


@pytest.mark.parametrize(("low", "high", "shown"), [(1, 3, True), (1, 1, False)])
def test_possible_ranks_are_shown_where_there_are_several(world: World, low: int, high: int, shown: bool) -> None:
    own = stood(world, "Bernoulli", 0.5)
    Standing.objects.update(rank_low=low, rank_high=high)
    page = page_of(world, own)
    assert ("it could be" in page) is ("it could be 1st to 3rd, given the uncertainty" in page) is shown


def test_own_rows_are_marked_for_their_team_only(world: World) -> None:
    stood(world, "Leader", 0.9, team="Others")
    stood(world, "Bernoulli", 0.5)
    own = System.objects.get(name="Bernoulli")
    client = Client()
    client.force_login(world.researcher)
    page = client.get("/benchmarks/tiny/test/").content.decode()
    assert f'<tr id="system-{own.pk}" class="own">' in page and page.count('class="own"') == 1
    assert f'href="#system-{own.pk}"' in page and "2nd" in page
    assert "yours" not in Client().get("/benchmarks/tiny/test/").content.decode().lower()


def api_result_of(world: World, release: Release) -> dict[str, object] | None:
    client = Client()
    client.force_login(world.researcher)
    answer: dict[str, dict[str, object] | None] = client.get(f"/api/v1/submissions/{release.submission_id}/").json()
    return answer["result"]


def test_the_api_has_the_numbers_of_the_page(world: World) -> None:
    stood(world, "Leader", 0.9, team="Others")
    own = stood(world, "Bernoulli", 0.5, hours=1)
    Standing.objects.filter(system__name="Bernoulli").update(rank_low=1, rank_high=2)
    result = api_result_of(world, own)
    assert result is not None and result.pop("lead") == pytest.approx(-0.4)
    expected = {"primary": "accuracy", "rank": 2, "is_tied": False, "n_ranked": 2, "rank_low": 1, "rank_high": 2}
    assert result == expected | {"is_shown": True, "gain": None}
    # A ladder shows neither differences nor possible ranks.
    Phase.objects.update(disclosure="ladder")
    assert api_result_of(world, own) == expected | {
        "rank_low": None,
        "rank_high": None,
        "is_shown": True,
        "gain": None,
        "lead": None,
    }
    Leaderboard.objects.update(task_version=2)
    assert api_result_of(world, own) is None
