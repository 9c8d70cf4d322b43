"""Teams through the API: creating, inviting, answering, transferring ownership and leaving, for members only."""

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
from leaderboard.models import Invitation, Membership, Team, User
from tests.support.api_calls import ROOT, client_of, error_of, person
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
TEAMS = f"{ROOT}/teams/"


world, _django_db_helper = shared_states(world=build)


def session_of(user: User) -> Client:
    """A session that has just begun: a token changes neither members nor owners."""
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


@pytest.fixture
def ada(world: World) -> Client:
    return session_of(world.researcher)


@pytest.fixture
def bob(world: World) -> Client:
    return session_of(person("bob"))


@pytest.fixture
def team(world: World) -> str:
    return f"{TEAMS}{world.system.team_id}/"


def post(client: Client, where: str, /, **body: Any) -> Any:
    return client.post(where, json.dumps(body), "application/json")


def response_code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def members(answer: Any) -> list[tuple[str, bool]]:
    return [(member["username"], member["is_owner"]) for member in answer.json()["members"]]


def token(answer: Any) -> str:
    return str(answer.json()["link"]).rstrip("/").rsplit("/", 1)[-1]


def test_only_ones_own_teams_are_listed(world: World, ada: Client, bob: Client) -> None:
    teams.create(name="Others", by=person("grace"))
    (row,) = ada.get(TEAMS).json()["results"]
    assert (row["name"], row["is_owner"], row["systems"]) == ("Analytical Engines", True, ["Bernoulli"])
    assert row["members"] == [{"username": "ada", "is_owner": True}] and row["invitations"] == []
    assert ada.get(row["url"]).json() == row
    assert bob.get(TEAMS).json()["count"] == 0 and not world.researcher.teams.filter(name="bob").exists()


def test_creating_a_team(bob: Client) -> None:
    answer = post(bob, TEAMS, name="Compilers")
    assert answer.status_code == 201 and members(answer) == [("bob", True)]
    assert bob.get(answer["Location"]).json() == answer.json()
    assert response_code(post(bob, TEAMS, name="C\u043empilers")) == (409, "name_taken")
    assert response_code(post(bob, TEAMS, name="Anonymous 3")) == (422, "invalid_name")
    assert response_code(post(bob, TEAMS)) == (400, "invalid")
    assert Team.objects.count() == 2


def test_the_number_of_teams_a_person_creates_is_limited(
    bob: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teams, "MOST_A_DAY", 2)
    assert [post(bob, TEAMS, name=name).status_code for name in ("One", "Two", "Three")] == [201, 201, 429]
    assert post(client_of(world.curator), TEAMS, name="Three").status_code == 201


def test_an_invitation_can_be_answered_once(ada: Client, bob: Client, team: str) -> None:
    invited = post(ada, f"{team}invitations/", address="bob@holdout.example")
    assert invited.status_code == 201 and "no-store" in invited["Cache-Control"]
    (waiting,) = ada.get(team).json()["invitations"]
    assert waiting["address"] == "bob@holdout.example" and "link" not in waiting
    assert response_code(post(bob, f"{ROOT}/invitations/", token=token(invited), answer="perhaps")) == (400, "invalid")
    joined = post(bob, f"{ROOT}/invitations/", token=token(invited), answer="accept")
    assert joined.status_code == 200 and members(joined) == [("ada", True), ("bob", False)]
    assert joined.json()["invitations"] == []
    second_answer = post(client_of(person("grace")), f"{ROOT}/invitations/", token=token(invited), answer="accept")
    assert response_code(second_answer) == (404, "not_found")
    assert "used, revoked or expired" in second_answer.json()["message"]


def test_invitations_that_are_declined_revoked_or_expired(ada: Client, bob: Client, team: str) -> None:
    for end in ("decline", "revoke", "late"):
        invited = post(ada, f"{team}invitations/", address="bob@holdout.example")
        if end == "decline":
            declined = post(bob, f"{ROOT}/invitations/", token=token(invited), answer="decline")
            assert (declined.status_code, declined.content) == (204, b"")
        elif end == "revoke":
            assert bob.delete(invited.json()["url"]).status_code == 404
            assert ada.delete(invited.json()["url"]).status_code == 204
            assert response_code(ada.delete(invited.json()["url"])) == (410, "invitation_gone")
        else:
            Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        used = post(bob, f"{ROOT}/invitations/", token=token(invited), answer="accept")
        assert response_code(used) == (404, "not_found"), end
    assert ada.get(team).json()["invitations"] == [] and Membership.objects.count() == 1


def test_with_a_mail_server_the_link_is_only_in_the_mail(ada: Client, team: str, settings: Any) -> None:
    settings.SENDS_MAIL = True
    invited = post(ada, f"{team}invitations/", address="bob@holdout.example")
    assert invited.json()["link"] == ""
    (message,) = mail.outbox
    assert message.to == ["bob@holdout.example"] and "/invitations/" in message.body


def test_the_number_of_invitations_is_limited(ada: Client, team: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invitations, "MOST_OPEN", 1)
    assert post(ada, f"{team}invitations/", address="a@holdout.example").status_code == 201
    assert response_code(post(ada, f"{team}invitations/", address="b@holdout.example")) == (429, "limit_reached")
    assert response_code(post(ada, f"{team}invitations/", address="nobody")) == (422, "invalid_value")


def test_transferring_ownership_and_leaving(world: World, ada: Client, bob: Client, team: str) -> None:
    Membership.objects.create(team=world.system.team, user=person("grace"))
    assert response_code(ada.delete(f"{team}membership/")) == (409, "last_owner")
    assert response_code(post(ada, f"{team}owner/", username="bob")) == (404, "not_found")
    assert response_code(post(ada, f"{team}owner/", username="ada")) == (403, "not_a_member")
    handed = post(ada, f"{team}owner/", username="grace")
    assert handed.status_code == 200 and members(handed) == [("grace", True), ("ada", False)]
    assert response_code(post(ada, f"{team}owner/", username="grace")) == (403, "not_an_owner")
    assert response_code(post(ada, f"{team}invitations/", address="bob@holdout.example")) == (403, "not_an_owner")
    assert ada.delete(f"{team}membership/").status_code == 204
    assert ada.get(team).status_code == 404


@pytest.mark.parametrize("verb", ["get", "invite", "owner", "leave"])
def test_a_team_of_others_answers_like_a_missing_team(bob: Client, team: str, verb: str) -> None:
    def ask(address: str) -> tuple[int, dict[str, Any]]:
        match verb:
            case "get":
                answer = bob.get(address)
            case "invite":
                answer = post(bob, f"{address}invitations/", address="bob@holdout.example")
            case "owner":
                answer = post(bob, f"{address}owner/", username="ada")
            case _:
                answer = bob.delete(f"{address}membership/")
        return answer.status_code, error_of(answer)

    assert ask(team) == ask(f"{TEAMS}999999/") and ask(team)[0] == 404


def test_only_owners_see_invitations(world: World, ada: Client, team: str) -> None:
    post(ada, f"{team}invitations/", address="bob@holdout.example")
    mate = person("grace")
    Membership.objects.create(team=world.system.team, user=mate)
    assert client_of(mate).get(team).json()["invitations"] == []


def test_a_list_of_teams_takes_a_constant_number_of_queries(world: World, ada: Client) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert ada.get(TEAMS).status_code == 200
        return len(queries)

    cost()  # once a day, the first request with a token stores the day
    before = cost()
    for number in range(4):
        teams.system(team=teams.create(name=f"Team {number}", by=world.researcher), name="S", by=world.researcher)
    assert cost() == before
