"""Teams by the API: founding, inviting, answering, handing on, leaving; for their members alone."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.actions import invitations, teams
from leaderboard.models import Invitation, Membership, Team
from tests.support.api_calls import ROOT, client_of, person
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
TEAMS = f"{ROOT}/teams/"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


@pytest.fixture
def bob(world: World) -> Client:
    return client_of(person("bob"))


@pytest.fixture
def team(world: World) -> str:
    return f"{TEAMS}{world.system.team_id}/"


def post(client: Client, where: str, /, **asked: Any) -> Any:
    return client.post(where, json.dumps(asked), "application/json")


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def members(answer: Any) -> list[tuple[str, bool]]:
    return [(one["username"], one["is_owner"]) for one in answer.json()["members"]]


def token(answer: Any) -> str:
    return str(answer.json()["link"]).rstrip("/").rsplit("/", 1)[-1]


def test_ones_own_teams_are_listed_and_no_other(world: World, ada: Client, bob: Client) -> None:
    teams.create(name="Others", by=person("grace"))
    (row,) = ada.get(TEAMS).json()["results"]
    assert (row["name"], row["is_owner"], row["systems"]) == ("Analytical Engines", True, ["Bernoulli"])
    assert row["members"] == [{"username": "ada", "is_owner": True}] and row["invitations"] == []
    assert ada.get(row["url"]).json() == row
    assert bob.get(TEAMS).json()["count"] == 0 and not world.researcher.teams.filter(name="bob").exists()


def test_founding_one(bob: Client) -> None:
    answer = post(bob, TEAMS, name="Compilers")
    assert answer.status_code == 201 and members(answer) == [("bob", True)]
    assert bob.get(answer["Location"]).json() == answer.json()
    assert told(post(bob, TEAMS, name="C\u043empilers")) == (409, "name_taken")
    assert told(post(bob, TEAMS, name="Anonymous 3")) == (422, "invalid_name")
    assert told(post(bob, TEAMS)) == (400, "invalid")
    assert Team.objects.count() == 2


def test_nobody_founds_teams_without_end(bob: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "MOST_A_DAY", 2)
    assert [post(bob, TEAMS, name=name).status_code for name in ("One", "Two", "Three")] == [201, 201, 409]
    assert post(client_of(world.curator), TEAMS, name="Three").status_code == 201


def test_an_invitation_is_answered_once(ada: Client, bob: Client, team: str) -> None:
    invited = post(ada, f"{team}invitations/", address="bob@holdout.example")
    assert invited.status_code == 201 and "no-store" in invited["Cache-Control"]
    (waiting,) = ada.get(team).json()["invitations"]
    assert waiting["address"] == "bob@holdout.example" and "link" not in waiting
    assert told(post(bob, f"{ROOT}/invitations/", token=token(invited), answer="perhaps")) == (400, "invalid")
    joined = post(bob, f"{ROOT}/invitations/", token=token(invited), answer="accept")
    assert joined.status_code == 200 and members(joined) == [("ada", True), ("bob", False)]
    assert joined.json()["invitations"] == []
    again = post(client_of(person("grace")), f"{ROOT}/invitations/", token=token(invited), answer="accept")
    assert told(again) == (404, "not_found")


def test_an_invitation_is_declined_or_taken_back_or_too_old(ada: Client, bob: Client, team: str) -> None:
    for end in ("decline", "revoke", "late"):
        invited = post(ada, f"{team}invitations/", address="bob@holdout.example")
        if end == "decline":
            declined = post(bob, f"{ROOT}/invitations/", token=token(invited), answer="decline")
            assert (declined.status_code, declined.content) == (204, b"")
        elif end == "revoke":
            assert bob.delete(invited.json()["url"]).status_code == 404
            assert ada.delete(invited.json()["url"]).status_code == 204
            assert told(ada.delete(invited.json()["url"])) == (409, "not_taken")
        else:
            Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        used = post(bob, f"{ROOT}/invitations/", token=token(invited), answer="accept")
        assert told(used) == (404, "not_found"), end
    assert ada.get(team).json()["invitations"] == [] and Membership.objects.count() == 1


def test_with_a_mail_server_the_link_is_in_the_mail_alone(ada: Client, team: str, settings: Any) -> None:
    settings.SENDS_MAIL = True
    invited = post(ada, f"{team}invitations/", address="bob@holdout.example")
    assert invited.json()["link"] == ""
    (sent,) = mail.outbox
    assert sent.to == ["bob@holdout.example"] and "/invitations/" in sent.body


def test_invitations_have_a_bound(ada: Client, team: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "MOST_OPEN", 1)
    assert post(ada, f"{team}invitations/", address="a@holdout.example").status_code == 201
    assert told(post(ada, f"{team}invitations/", address="b@holdout.example")) == (409, "not_taken")
    assert told(post(ada, f"{team}invitations/", address="nobody")) == (422, "invalid_name")


def test_handing_on_and_leaving(world: World, ada: Client, bob: Client, team: str) -> None:
    Membership.objects.create(team=world.system.team, user=person("grace"))
    assert told(ada.delete(f"{team}membership/")) == (409, "last_owner")
    assert told(post(ada, f"{team}owner/", username="bob")) == (404, "not_found")
    assert told(post(ada, f"{team}owner/", username="ada")) == (403, "not_a_member")
    handed = post(ada, f"{team}owner/", username="grace")
    assert handed.status_code == 200 and members(handed) == [("grace", True), ("ada", False)]
    assert told(post(ada, f"{team}owner/", username="grace")) == (403, "not_an_owner")
    assert told(post(ada, f"{team}invitations/", address="bob@holdout.example")) == (403, "not_an_owner")
    assert ada.delete(f"{team}membership/").status_code == 204
    assert ada.get(team).status_code == 404


@pytest.mark.parametrize("verb", ["get", "invite", "owner", "leave"])
def test_a_team_of_others_is_as_one_that_is_not_there(bob: Client, team: str, verb: str) -> None:
    def ask(address: str) -> tuple[int, bytes]:
        match verb:
            case "get":
                answer = bob.get(address)
            case "invite":
                answer = post(bob, f"{address}invitations/", address="bob@holdout.example")
            case "owner":
                answer = post(bob, f"{address}owner/", username="ada")
            case _:
                answer = bob.delete(f"{address}membership/")
        return answer.status_code, answer.content

    assert ask(team) == ask(f"{TEAMS}999999/") and ask(team)[0] == 404


def test_who_is_no_owner_sees_no_invitation(world: World, ada: Client, team: str) -> None:
    post(ada, f"{team}invitations/", address="bob@holdout.example")
    mate = person("grace")
    Membership.objects.create(team=world.system.team, user=mate)
    assert client_of(mate).get(team).json()["invitations"] == []


def test_a_list_costs_the_same_however_many_teams_there_are(world: World, ada: Client) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert ada.get(TEAMS).status_code == 200
        return len(asked)

    before = cost()
    for number in range(4):
        teams.system(team=teams.create(name=f"Team {number}", by=world.researcher), name="S", by=world.researcher)
    assert cost() == before
