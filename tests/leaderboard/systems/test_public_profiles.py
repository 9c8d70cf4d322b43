"""Public pages of teams and people: who is shown, and what stays private."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import profiles
from leaderboard.core.refusal import Refused
from leaderboard.models import AuditEntry, Benchmark, Leaderboard, Membership, Profile, System, Team
from leaderboard.systems.web.public_profiles import initials
from tests.support.api_calls import person
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"


world, _django_db_helper = shared_states(world=build)


def text_of(address: str, client: Client | None = None) -> str:
    response = (client or Client()).get(address)
    assert response.status_code == 200 and read(response.content.decode()).faults == []
    return response.content.decode()


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def team_page(world: World) -> str:
    return f"/teams/{world.system.team_id}/"


def test_a_team_page_shows_systems_with_ranks_and_links(world: World) -> None:
    stand(world, "Bernoulli", symmetric_scores(0.7))
    stand(world, "Better", symmetric_scores(0.8), team="Others")
    page, board = text_of(team_page(world)), Leaderboard.objects.get()
    assert f'href="/systems/{world.system.pk}/?board={board.pk}"' in page and f'href="{BOARD}"' in page
    assert '<td class="num">2</td>' in page and "0.700" in page and "Better" not in page
    for address in (BOARD, f"/systems/{world.system.pk}/", "/benchmarks/tiny/"):
        assert f'href="{team_page(world)}"' in text_of(address), address


@pytest.mark.parametrize("hidden", ["no result", "draft", "anonymous", "preparing"])
def test_a_team_without_a_public_result_has_no_page(world: World, hidden: str) -> None:
    profiles.update(by=world.researcher, is_public=True, name="Ada Byron")
    if hidden != "no result":
        stand(world, "Bernoulli")
    if hidden in Benchmark.State.values:
        Benchmark.objects.update(state=hidden)
    elif hidden == "anonymous":
        System.objects.update(anonymous_until=timezone.now() + timedelta(days=1), anonymous_number=3)
    elif hidden == "preparing":
        Leaderboard.objects.update(state=hidden)
    assert Client().get(team_page(world)).status_code == 404
    assert world.system.team.name not in text_of(f"/people/{world.researcher.pk}/")
    if hidden == "anonymous":
        for client in (Client(), client_of(world.researcher), client_of(world.curator)):
            for address in (BOARD, f"/systems/{world.system.pk}/"):
                assert team_page(world) not in text_of(address, client)


def test_an_anonymous_system_is_not_on_its_teams_page(world: World) -> None:
    stand(world, "Bernoulli")
    stand(world, "Secret", anonymous_until=timezone.now() + timedelta(days=1), anonymous_number=3)
    for client in (Client(), client_of(world.researcher)):
        page = text_of(team_page(world), client)
        assert "Secret" not in page and "Anonymous 3" not in page and "Bernoulli" in page


def test_only_members_who_consent_are_named(world: World) -> None:
    stand(world, "Bernoulli")
    quiet = person("quiet")
    Membership.objects.create(team=world.system.team, user=quiet)
    profiles.update(by=quiet, is_public=False, name="Quiet Name", affiliation="Quiet Place")
    assert "Members" not in text_of(team_page(world))
    assert Client().get(f"/people/{quiet.pk}/").status_code == 404
    profiles.update(
        by=world.researcher,
        is_public=True,
        name="Ada Byron",
        affiliation="London",
        url="https://ada.example/",
        orcid="https://orcid.org/0000-0002-1825-0097",
    )
    page, own = text_of(team_page(world)), f"/people/{world.researcher.pk}/"
    assert f'href="{own}"' in page and "Ada Byron" in page and "London" in page
    assert "Quiet" not in page and "quiet" not in page and world.researcher.email not in page
    shown = text_of(own)
    for part in (
        "Ada Byron",
        "London",
        "https://ada.example/",
        "0000-0002-1825-0097",
        "not verified",
        team_page(world),
    ):
        assert part in shown, part
    assert world.researcher.email not in shown
    world.researcher.is_active = False
    world.researcher.save()
    assert Client().get(own).status_code == 404 and "Ada Byron" not in text_of(team_page(world))


def test_a_profile_is_off_until_its_user_switches_it_on(world: World) -> None:
    client, page = client_of(world.researcher), "/me/profile/"
    assert "Nobody else can see your profile" in text_of(page, client)
    sent = {"name": "Ada Byron", "orcid": "0000000218250097"}
    assert client.post(page, sent).status_code == 302
    profile = Profile.objects.get()
    assert (profile.is_public, profile.orcid) == (False, "0000-0002-1825-0097")
    assert Client().get(profile.get_absolute_url()).status_code == 404
    client.post(page, {**sent, "is_public": "on"})
    assert Client().get(profile.get_absolute_url()).status_code == 200
    assert AuditEntry.objects.filter(action="profile.saved").count() == 2


@pytest.mark.parametrize(
    "sent",
    [
        {"name": ""},
        {"name": "A\u202eB"},
        {"name": "Ada", "orcid": "0000-0002-1825-0098"},
        {"name": "Ada", "orcid": "1234"},
        {"name": "Ada", "url": "javascript:alert(1)"},
        {"name": "Ada", "url": "ftp://a.example/"},
        {"name": "Ada", "affiliation": "x\u2066y"},
    ],
    ids=ascii,
)
def test_invalid_profiles_are_refused(world: World, sent: dict[str, str]) -> None:
    response = client_of(world.researcher).post("/me/profile/", {"is_public": "on", **sent})
    assert response.status_code in (400, 409, 422) and not Profile.objects.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ""), ("0000-0002-1825-0097", "0000-0002-1825-0097"), (" 0000-0002-1694-233x", "0000-0002-1694-233X")],
)
def test_orcid(text: str, expected: str) -> None:
    assert profiles.orcid_of(text) == expected


def test_an_orcid_with_a_wrong_digit_is_refused() -> None:
    with pytest.raises(Refused, match="wrong digit"):
        profiles.orcid_of("0000-0002-1825-0079")


@pytest.mark.parametrize(
    ("name", "expected"), [("Ada Byron", "AB"), ("Ada", "A"), ("Ada King Byron", "AB"), ("éa", "É"), ("王 小", "王小")]
)
def test_initials(name: str, expected: str) -> None:
    assert initials(name) == expected


def test_the_pages_take_a_constant_number_of_queries(world: World, django_assert_max_num_queries: Any) -> None:
    for number in range(3):
        stand(world, f"System {number}")
    assert Team.objects.count() == 1
    with django_assert_max_num_queries(6):
        Client().get(team_page(world))
