"""Deletion of an account, and the copy of one's data: what goes, what stays, and what nobody else learns."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core.files.base import ContentFile
from django.db.models import CharField, JSONField, TextField
from django.test import Client

from leaderboard.accounts.actions import delete_account, invitations, profiles, teams, tokens, usernames
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Benchmark, Follow, Membership, Submission, System, Team, User
from leaderboard.notifications.actions import follows
from leaderboard.submissions.actions import registrations
from tests.support.api_calls import client_of, person
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"
NAME = "zyxomma"
CONFIRMED = {"username": NAME}


@pytest.fixture
def world() -> World:
    tiny = build()
    User.objects.filter(pk=tiny.researcher.pk).update(username=NAME, email=f"{NAME}@holdout.example", first_name=NAME)
    tiny.researcher.refresh_from_db()
    Team.objects.update(name=f"{NAME}'s lab")
    EmailAddress.objects.create(user=tiny.researcher, email=f"{NAME}@holdout.example", primary=True)
    return tiny


def session_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def stored_with(text: str) -> set[str]:
    """Return the models and fields, except immutable ones, in which some row contains the text."""
    found = set()
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, CharField | TextField | JSONField):
                for value in model._default_manager.values_list(field.attname, flat=True):
                    if text in json.dumps(value, default=str):
                        found.add(f"{model.__name__}.{field.attname}")
    return found


def test_names_and_addresses_go_and_scores_stay(world: World) -> None:
    ada = world.researcher
    stand(world, "Engine", [score("accuracy", 0.75)], bibtex=f"@misc{{{NAME}}}")
    api, browser, other = client_of(ada), session_of(ada), session_of(ada)
    invitations.invite(team=world.system.team, address="bob@holdout.example", by=ada)
    browser.post("/me/webhooks/")
    profiles.update(by=ada, is_public=True, name=NAME, affiliation=NAME)
    follows.follow(benchmark=world.benchmark, by=ada)
    world.benchmark.access = Benchmark.Access.APPROVAL
    world.benchmark.save()
    registrations.request(benchmark=world.benchmark, team=world.system.team, message=f"I am {NAME}.", by=ada)
    before = Client().get(BOARD)
    page = browser.get("/me/delete/").content.decode()
    assert "The team is closed and renamed" in page and "/me/data.zip" in page
    assert "Your username is" in browser.post("/me/delete/", {"username": "ada"}).content.decode()
    assert User.objects.get(pk=ada.pk).is_active
    assert "Your account was deleted." in browser.post("/me/delete/", CONFIRMED, follow=True).content.decode()
    after = Client().get(BOARD)
    assert before["ETag"] != after["ETag"] and "0.750" in after.content.decode()
    assert f"Deleted account {ada.pk}" in after.content.decode() and "Engine" in after.content.decode()
    assert stored_with(NAME) == set() and not Follow.objects.exists()
    assert browser.get(f"/people/{ada.pk}/").status_code == 404
    assert api.get("/api/v1/submissions/").status_code == 401
    for client in (browser, other):
        assert client.get("/me/teams/").status_code == 302
    log_in = {"login": NAME, "password": "correct horse"}
    assert Client().post("/accounts/login/", log_in).status_code == 200
    assert Submission.objects.filter(submitted_by=ada).exists() or System.objects.filter(name="Engine").exists()
    trail = session_of(world.curator).get("/manage/benchmarks/tiny/audit-trail/")
    assert trail.status_code == 200 and NAME not in trail.content.decode()


def test_teams_with_other_members_get_an_owner_and_empty_ones_go(world: World) -> None:
    ada, bob, eve = world.researcher, person("bob"), person("eve")
    world.insert_run()
    shared = Team.objects.get(pk=world.system.team_id)
    for user in (bob, eve):
        Membership.objects.create(team=shared, user=user)
    joined, empty = teams.create(name="Joined", by=eve), teams.create(name="Empty", by=ada)
    Membership.objects.create(team=joined, user=ada)
    found = delete_account.consequences(ada)
    assert (found.passed_on, found.left, found.deleted, found.closed) == (
        [(shared.name, "bob")], ["Joined"], ["Empty"], []
    )  # fmt: skip
    delete_account.delete(user=ada)
    owners = Membership.objects.filter(team=shared, is_owner=True).values_list("user", flat=True)
    assert list(owners) == [bob.pk] and set(shared.members.all()) == {bob, eve}
    assert Team.objects.get(pk=shared.pk).name == shared.name and list(joined.members.all()) == [eve]
    assert not Team.objects.filter(pk=empty.pk).exists()


def test_who_runs_the_site_cannot_and_nobody_takes_such_a_name(world: World) -> None:
    for user in (world.curator, person("olga", is_staff=True)):
        with pytest.raises(Refused) as refused:
            delete_account.delete(user=user)
        assert refused.value.code is Code.NOT_POSSIBLE
        answer = session_of(user).post("/me/delete/", {"username": user.username})
        assert answer.status_code == 409 and User.objects.get(pk=user.pk).is_active
    for name in ("deleted-account-7", "De1eted account", "DELETED ACC0UNT 12"):
        for act in (lambda name: teams.create(name=name, by=world.researcher), usernames.checked):
            with pytest.raises(Refused) as refused:
                act(name)
            assert refused.value.code is Code.INVALID_NAME


def test_the_copy_has_ones_own_data_as_far_as_ones_pages_show_it(world: World) -> None:
    ada, bob = world.researcher, person("bob")
    release = stand(world, "Engine", [score("accuracy", 0.75)])
    submission = release.submission
    Submission.objects.update(submitted_by=ada)
    prediction = submission.predictions.get()
    prediction.file.save("p.jsonl", ContentFile(b"the file\n" * 300_000))
    Membership.objects.create(team=submission.system.team, user=bob)
    tokens.issue(by=ada)

    def copy_of(user: User) -> dict[str, bytes]:
        answer = session_of(user).get("/me/data.zip")
        assert answer["Content-Type"] == "application/zip" and "no-store" in answer["Cache-Control"]
        with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as files:
            assert files.testzip() is None
            return {name: files.read(name) for name in files.namelist()}

    own, folder = copy_of(ada), f"submissions/{submission.pk}"
    assert json.loads(own["profile.json"])["username"] == NAME
    assert json.loads(own["teams.json"])[0]["name"] == submission.system.team.name
    assert own[f"{folder}/predictions.jsonl"] == b"the file\n" * 300_000
    about = json.loads(own[f"{folder}/submission.json"])
    assert (about["system"], about["scores"][0]["value"]) == ("Engine", 0.75)
    assert set(copy_of(bob)) == {"profile.json", "teams.json"}, "what others sent is theirs"
    assert NAME.encode() not in copy_of(bob)["profile.json"]
    Membership.objects.filter(user=ada).delete()
    assert set(copy_of(ada)) == {"profile.json", "teams.json"}


def test_the_copy_hides_what_a_container_could_have_copied(world: World, monkeypatch: Any) -> None:
    submission = stand(world, "Engine", [score("accuracy", 0.75)]).submission
    Submission.objects.update(submitted_by=world.researcher)
    monkeypatch.setattr("leaderboard.submissions.queries.progress.Progress.file_is_shown", False)
    answer = session_of(world.researcher).get("/me/data.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as files:
        assert not any("predictions" in name for name in files.namelist()), submission.pk
