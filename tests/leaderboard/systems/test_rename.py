"""Teams and systems are renamed; former names stay public, except of systems whose present name is hidden."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Membership, System, Team
from leaderboard.systems.actions import rename
from tests.support.api_calls import ROOT, client_of, error_of, person
from tests.support.crawler import crawl
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def system(world: World) -> System:
    return stand(world, "Zyxomma", [score("accuracy", 0.75)]).submission.system


def code_of(act: Any, **kwargs: Any) -> Code:
    with pytest.raises(Refused) as refused:
        act(**kwargs)
    return refused.value.code


def page_of(system: System) -> str:
    return Client().get(f"/systems/{system.pk}/").content.decode()


def test_everybody_sees_the_new_name_on_boards_and_the_former_on_its_page(world: World, system: System) -> None:
    before = Client().get(BOARD)
    today, team = timezone.now().date().isoformat(), system.team.name
    rename.rename_system(system=system, name="Motor", by=world.researcher)
    rename.rename_team(team=system.team, name="Night shift", by=world.researcher)
    after = Client().get(BOARD)
    assert before["ETag"] != after["ETag"] and "Motor" in after.content.decode()
    assert "Zyxomma" not in after.content.decode() and "Night shift" in after.content.decode()
    page = page_of(system)
    for former in ("Zyxomma", team):
        assert f"formerly <bdi>{former}</bdi>" in page
    assert page.count(f'(until <time datetime="{today}">') == 2


def test_the_api_lists_and_renames_ones_own_systems(world: World, system: System) -> None:
    client, today = client_of(world.researcher), timezone.now().date().isoformat()
    listed = client.get(f"{ROOT}/systems/").json()["results"]
    assert [(row["name"], row["team"]) for row in listed] == [
        (world.system.name, str(world.system.team)),
        ("Zyxomma", str(system.team)),
    ]
    address = f"{ROOT}/systems/{system.pk}/name/"
    renamed = client.post(address, {"name": "Motor"}, "application/json").json()
    assert (renamed["name"], renamed["former_names"]) == ("Motor", [{"name": "Zyxomma", "until": today}])
    taken = client.post(address, {"name": world.system.name}, "application/json")
    assert (taken.status_code, error_of(taken)["code"]) == (409, "name_taken")
    assert error_of(client.post(address, {}, "application/json"))["fields"] == {"name": ["This field is required."]}
    bob = client_of(person("bob"))
    assert bob.post(address, {"name": "Mine"}, "application/json").status_code == 404
    assert bob.get(f"{ROOT}/systems/").json()["results"] == []


def test_nobody_else_gets_a_former_name(world: World, system: System) -> None:
    ada, bob, former = world.researcher, person("bob"), system.team.name
    rename.rename_system(system=system, name="Motor", by=ada)
    rename.rename_team(team=system.team, name="Night shift", by=ada)
    for name in (former, former.upper(), "Night shift"):
        assert code_of(teams.create, name=name, by=bob) is Code.NAME_TAKEN
    with pytest.raises(Refused, match="Motor had the name Zyxomma before"):
        teams.system(team=system.team, name="Zyxomma", by=ada)
    other = teams.create(name="Day shift", by=bob)
    assert code_of(rename.rename_team, team=other, name=former, by=bob) is Code.NAME_TAKEN
    loom = stand(world, "Loom", [score("accuracy", 0.5)]).submission.system
    assert code_of(rename.rename_system, system=loom, name="Zyxomma", by=ada) is Code.NAME_TAKEN
    rename.rename_system(system=system, name="Zyxomma", by=ada)
    rename.rename_team(team=system.team, name=former, by=ada)


def test_the_former_names_of_an_anonymous_system_are_hidden(world: World, system: System) -> None:
    team = system.team.name
    rename.rename_system(system=system, name="Motor", by=world.researcher)
    rename.rename_team(team=system.team, name="Night shift", by=world.researcher)
    System.objects.filter(pk=system.pk).update(anonymous_until=timezone.now() + timedelta(days=1), anonymous_number=1)
    names = [b"Zyxomma", b"Motor", b"Night shift", team.encode()]
    pages = list(crawl(Client(), ["/", BOARD, f"/systems/{system.pk}/", "/feed.atom"]))
    assert len(pages) > 10 and [name for page in pages for name in names if name in page.text] == []


def test_only_owners_and_members_rename_and_not_without_end(world: World, system: System) -> None:
    bob, team = person("bob"), system.team
    assert code_of(rename.rename_system, system=system, name="Motor", by=bob) is Code.NOT_A_MEMBER
    Membership.objects.create(team=team, user=bob)
    assert code_of(rename.rename_team, team=team, name="Night shift", by=bob) is Code.NOT_AN_OWNER
    for number in range(rename.MOST):
        rename.rename_system(system=system, name=f"Motor version {'i' * (number + 2)}", by=bob)
    assert code_of(rename.rename_system, system=system, name="Loom", by=bob) is Code.THROTTLED
    assert len(System.objects.get(pk=system.pk).former_names) == rename.MOST
    world.benchmark.baselines_team = team
    world.benchmark.save()
    assert code_of(rename.rename_team, team=team, name="Night shift", by=world.researcher) is Code.NOT_POSSIBLE


def test_the_pages(world: World, system: System) -> None:
    client = Client()
    client.force_login(world.researcher)
    for address in (f"/systems/{system.pk}/", f"/me/teams/{system.team_id}/"):
        form = f"{address}rename/"
        assert f'href="{form}"' in client.get(address).content.decode()
        assert client.post(form, {"name": "Anonymous 3"}).status_code == 422
        assert "on all boards" in client.post(form, {"name": "Motor"}, follow=True).content.decode()
    assert System.objects.get(pk=system.pk).name == Team.objects.get(pk=system.team_id).name == "Motor"
    assert set(AuditEntry.objects.filter(action__endswith=".renamed").values_list("actor", flat=True)) == {
        world.researcher.pk
    }
