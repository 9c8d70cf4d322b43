"""Invitations, leaving and transferring ownership: who may, what changes, and what former members no longer see."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import invitations, membership, teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Invitation, Membership, Notice, Team, User
from tests.support.api_calls import client_of, person
from tests.support.rows.tiny_world import World, build
from tests.support.simultaneous_calls import together

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def team(world: World) -> Team:
    return world.system.team


@pytest.fixture
def bob(world: World) -> User:
    return person("bob")


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def link(team: Team, by: User, address: str = "bob@holdout.example") -> str:
    """Path of a new invitation."""
    return "/" + invitations.invite(team=team, address=address, by=by).link.split("/", 3)[3]


def refusal_code(act: Any, **kwargs: Any) -> Code:
    with pytest.raises(Refused) as refused:
        act(**kwargs)
    return refused.value.code


def test_a_team_deleted_meanwhile_is_no_error_of_the_server(world: World, team: Team, bob: User) -> None:
    membership.delete(team=Team.objects.get(pk=team.pk), by=world.researcher)
    for act, kwargs in (
        (membership.leave, {"team": team, "by": bob}),
        (invitations.invite, {"team": team, "address": "eve@holdout.example", "by": world.researcher}),
        (teams.system, {"team": team, "name": "New", "by": world.researcher}),
    ):
        assert refusal_code(act, **kwargs) is Code.NOT_A_MEMBER


def test_an_invitation_is_accepted_only_once(world: World, team: Team, bob: User) -> None:
    where = link(team, world.researcher)
    page = browser(bob).get(where)
    assert page.status_code == 200 and team.name in page.content.decode()
    assert not team.members.filter(pk=bob.pk).exists()
    joined = browser(bob).post(where, {"answer": "accept"})
    assert joined.status_code == 302 and joined["Location"] == f"/me/teams/{team.pk}/"
    assert not Membership.objects.get(team=team, user=bob).is_owner
    eve = browser(person("eve"))
    assert [eve.get(where).status_code, eve.post(where, {"answer": "accept"}).status_code] == [404, 404]
    assert team.members.count() == 2


def test_declining_invalidates_the_link(world: World, team: Team, bob: User) -> None:
    where = link(team, world.researcher)
    assert browser(bob).post(where, {"answer": "decline"}).status_code == 302
    assert browser(bob).post(where, {"answer": "accept"}).status_code == 404
    assert list(team.members.all()) == [world.researcher]


def test_expired_and_revoked_links_look_like_unknown_ones(world: World, team: Team, bob: User) -> None:
    old, revoked = link(team, world.researcher), link(team, world.researcher)
    first, second = Invitation.objects.order_by("pk")
    Invitation.objects.filter(pk=first.pk).update(expires_at=timezone.now())
    invitations.revoke(invitation=second, by=world.researcher)
    client = browser(bob)
    answers = [client.get(where) for where in (old, revoked, "/invitations/never-was/")]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert len({re.sub(r'="\w{60,}"', "", answer.content.decode()) for answer in answers}) == 1
    assert refusal_code(invitations.accept, invitation=first, by=bob) is Code.INVITATION_GONE


def test_the_token_is_not_stored(world: World, team: Team) -> None:
    token = link(team, world.researcher).split("/")[2]
    row = Invitation.objects.values().get()
    assert len(token) >= 43 and token not in repr(row)
    assert token not in repr(list(AuditEntry.objects.values()))


def test_a_mailed_link_is_not_shown(world: World, team: Team, settings: Any) -> None:
    settings.SENDS_MAIL = True
    invited = invitations.invite(team=team, address="new@holdout.example", by=world.researcher)
    (message,) = mail.outbox
    token = re.search(r"/invitations/([\w-]{43,})/", message.body)
    assert invited.link == "" and token is not None and message.to == ["new@holdout.example"]
    assert invitations.find(token[1]) == invited.invitation


def mailed(team: Team, by: User, address: str) -> str:
    """Path of the link in a mailed invitation."""
    invitations.invite(team=team, address=address, by=by)
    found = re.search(r"/invitations/[\w-]{43,}/", mail.outbox[-1].body)
    assert found is not None
    return found[0]


def add_address(user: User, address: str, *, verified: bool) -> None:
    EmailAddress.objects.create(user=user, email=address, verified=verified)


def test_a_mailed_invitation_is_for_the_account_that_has_verified_its_address(
    world: World, team: Team, bob: User, settings: Any
) -> None:
    """Eve finds a forwarded mail. An address that she has added but not verified does not help her."""
    settings.SENDS_MAIL = True
    where, eve = mailed(team, world.researcher, "Bob.Private@holdout.example"), person("eve")
    add_address(eve, eve.email, verified=True)
    add_address(eve, "bob.private@holdout.example", verified=False)
    client = browser(eve)
    answers = [client.get(where), *(client.post(where, {"answer": answer}) for answer in ("accept", "decline"))]
    fields = {"token": where.split("/")[2], "answer": "accept"}
    answers.append(client_of(eve).post("/api/v1/invitations/", fields, content_type="application/json"))
    assert [answer.status_code for answer in answers] == [403] * 4
    assert answers[-1].json()["code"] == "not_invited"
    for answer in answers:
        text = re.sub(r"\b[0-9a-f]{32}\b", "", answer.content.decode())  # a request's id may contain "ada"
        assert "sent to another email address" in text
        assert "private" not in text.lower() and team.name not in text and world.researcher.username not in text
    assert list(team.members.all()) == [world.researcher]
    EmailAddress.objects.all().delete()
    add_address(bob, bob.email, verified=True)
    add_address(bob, "bob.private@holdout.example", verified=True)
    assert browser(bob).post(where, {"answer": "accept"}).status_code == 302
    assert team.members.filter(pk=bob.pk).exists()


@pytest.mark.parametrize(
    "lookalike", ["b\u0131ll@holdout.example", "bill@holdout.example.evil.example", " bill@holdout.example"]
)
def test_an_address_that_resembles_the_invited_one_is_another(
    world: World, team: Team, settings: Any, lookalike: str
) -> None:
    """UPPER() in a database makes a dotless i equal to i."""
    settings.SENDS_MAIL = True
    eve = person("eve")
    add_address(eve, lookalike, verified=True)
    mailed(team, world.researcher, "bill@holdout.example")
    assert refusal_code(invitations.accept, invitation=Invitation.objects.get(), by=eve) is Code.NOT_INVITED


def test_addresses_with_and_without_an_account_get_the_same_answer(world: World, team: Team, bob: User) -> None:
    owner = browser(world.researcher)
    pages = []
    for address in (bob.email, "nobody@holdout.example"):
        page = owner.post(f"/me/teams/{team.pk}/invite/", {"address": address})
        assert page.status_code == 200
        varying = r'invitations/[\w-]+/|value="\w{60,}"|datetime="[^"]+" title="[^"]+">[^<]+'
        text = re.sub(varying, "", page.content.decode())
        pages.append(text.replace(address, "ADDRESS"))
        Invitation.objects.all().delete()
    assert pages[0] == pages[1]


def test_only_owners_invite_and_the_number_is_limited(world: World, team: Team, bob: User) -> None:
    Membership.objects.create(team=team, user=bob)
    assert browser(bob).post(f"/me/teams/{team.pk}/invite/", {"address": "x@holdout.example"}).status_code == 403
    assert refusal_code(invitations.invite, team=team, address="no address", by=world.researcher) is Code.INVALID_VALUE
    for number in range(invitations.MOST_OPEN):
        invitations.invite(team=team, address=f"{number}@holdout.example", by=world.researcher)
    assert (
        refusal_code(invitations.invite, team=team, address="x@holdout.example", by=world.researcher)
        is Code.LIMIT_REACHED
    )


def test_the_last_owner_must_transfer_ownership_before_leaving(world: World, team: Team, bob: User) -> None:
    Membership.objects.create(team=team, user=bob)
    ada = world.researcher
    assert refusal_code(membership.leave, team=team, by=ada) is Code.LAST_OWNER
    assert refusal_code(membership.transfer, team=team, to=ada, by=bob) is Code.NOT_AN_OWNER
    assert refusal_code(membership.transfer, team=team, to=person("eve"), by=ada) is Code.NOT_A_MEMBER
    membership.transfer(team=team, to=bob, by=ada)
    assert {
        membership_row.user: membership_row.is_owner for membership_row in Membership.objects.filter(team=team)
    } == {ada: False, bob: True}
    membership.leave(team=team, by=ada)
    assert list(team.members.all()) == [bob]


def test_the_only_member_closes_the_team(world: World, team: Team) -> None:
    ada = world.researcher
    submission = world.insert_run().prediction.submission
    team = submission.system.team
    where = link(team, ada)
    page = browser(ada).get(f"/me/teams/{team.pk}/").content.decode()
    assert "Close the team" in page and "Leave the team" not in page
    assert refusal_code(membership.leave, team=team, by=ada) is Code.LAST_OWNER
    bob = person("bob")
    Membership.objects.create(team=team, user=bob)
    assert refusal_code(membership.close, team=team, by=ada) is Code.IN_USE
    assert refusal_code(membership.close, team=team, by=bob) is Code.NOT_AN_OWNER
    membership.leave(team=team, by=bob)
    answer = browser(ada).post(f"/me/teams/{team.pk}/close/", follow=True).content.decode()
    assert f"The team {team} is closed." in answer
    assert not team.members.exists() and browser(bob).get(where).status_code == 404
    assert AuditEntry.objects.get(action="team.closed").actor == ada
    assert browser(ada).get(submission.get_absolute_url()).status_code == 404
    assert refusal_code(world.submit) is Code.NOT_A_MEMBER


def test_refusals_of_members_have_the_names_of_team_and_person(world: World, team: Team, bob: User) -> None:
    ada, eve = world.researcher, person("eve")
    Membership.objects.create(team=team, user=bob)
    for action, named, message in (
        (membership.remove, {"member": eve, "by": ada}, f"eve is not a member of the team {team}."),
        (membership.remove, {"member": ada, "by": bob}, f"Only an owner of the team {team} may do this."),
        (membership.transfer, {"to": ada, "by": ada}, f"You already own {team}; expected another member"),
        (membership.transfer, {"to": eve, "by": ada}, f"eve is not a member of {team}; expected a member"),
        (membership.leave, {"by": eve}, f"You are not a member of the team {team}."),
        (membership.leave, {"by": ada}, f"You are the only owner of {team}: transfer ownership"),
    ):
        with pytest.raises(Refused, match=re.escape(message)):
            action(team=team, **named)


def test_a_team_is_deleted_only_before_it_has_submitted(world: World, team: Team) -> None:
    run = world.insert_run()
    assert refusal_code(membership.delete, team=team, by=world.researcher) is Code.IN_USE
    other = teams.create(name="Short lived", by=world.researcher)
    teams.system(team=other, name="Nothing", by=world.researcher)
    membership.delete(team=other, by=world.researcher)
    assert not Team.objects.filter(pk=other.pk).exists() and Team.objects.filter(pk=team.pk).exists()
    assert run.prediction.submission.system.team == team


def test_a_removed_member_sees_nothing_of_the_team(world: World, team: Team, bob: User) -> None:
    """Not even their own submissions: these belong to the team."""
    Membership.objects.create(team=team, user=bob)
    run = world.insert_run()
    submission = run.prediction.submission
    type(submission).objects.filter(pk=submission.pk).update(submitted_by=bob)
    fields = {"user": bob, "submission": submission, "body": {}, "due_at": timezone.now(), "created_at": timezone.now()}
    Notice.objects.create(subject=run.pk, **fields)
    pages = [
        f"/submissions/{submission.pk}/",
        f"/submissions/{submission.pk}/predictions/",
        f"/systems/{world.system.pk}/",
        f"/me/teams/{team.pk}/",
    ]
    assert [browser(bob).get(where).status_code for where in pages] == [200] * 4
    membership.remove(team=team, member=bob, by=world.researcher)
    assert [browser(bob).get(where).status_code for where in pages] == [404] * 4
    api = client_of(bob)
    assert api.get(f"/api/v1/submissions/{submission.pk}/").status_code == 404
    assert api.get("/api/v1/submissions/").json()["results"] == []
    for where in ("/me/submissions/", "/me/notifications/", "/me/teams/"):
        text = browser(bob).get(where).content.decode()
        assert world.system.name not in text and team.name not in text
    assert not Notice.objects.filter(user=bob).exists()


def test_owners_cannot_be_removed_by_members_nor_remove_themselves(world: World, team: Team, bob: User) -> None:
    Membership.objects.create(team=team, user=bob)
    assert refusal_code(membership.remove, team=team, member=world.researcher, by=bob) is Code.NOT_AN_OWNER
    assert refusal_code(membership.remove, team=team, member=world.researcher, by=world.researcher) is Code.LAST_OWNER
    assert team.members.count() == 2


def test_markup_in_a_team_name_is_escaped_on_its_pages(world: World, bob: User) -> None:
    evil = teams.create(name="<script>alert(1)</script>", by=bob)
    where = link(evil, bob, "x@holdout.example")
    for client, page in ((browser(bob), f"/me/teams/{evil.pk}/"), (browser(world.researcher), where)):
        text = client.get(page).content.decode()
        assert "<script>alert" not in text and "&lt;script&gt;alert(1)" in text


@pytest.mark.django_db(transaction=True)
def test_of_many_simultaneous_uses_of_a_link_one_joins() -> None:
    world = build()
    team = world.system.team
    token = link(team, world.researcher).split("/")[2]
    invitation = invitations.find(token)
    assert invitation is not None
    people = [person(f"person-{number}") for number in range(6)]
    answers = together(
        [lambda member=member: invitations.accept(invitation=invitation, by=member) for member in people]
    )
    assert sorted(str(answer) for answer in answers) == sorted([str(team), *[str(Code.INVITATION_GONE)] * 5])
    assert team.members.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_leave_at_once_one_stays() -> None:
    world = build()
    team, bob = world.system.team, person("bob")
    Membership.objects.create(team=team, user=bob, is_owner=True)
    answers = together([lambda owner=owner: membership.leave(team=team, by=owner) for owner in (world.researcher, bob)])
    assert sorted(map(str, answers)) == sorted(["None", str(Code.LAST_OWNER)])
    assert Membership.objects.filter(team=team, is_owner=True).count() == 1
