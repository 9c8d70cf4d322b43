"""A copied session does not become the account: what outlives it asks again, and its user is told by mail.

Which requests ask is in tests/leaderboard/whole_site/reauthentication_table.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client
from knox.models import AuthToken
from oidc_provider_mock import User as Claims

from leaderboard.accounts.actions import curators, teams
from leaderboard.accounts.web.adapter import AccountAdapter
from leaderboard.models import Invitation, Membership, User
from tests.leaderboard.accounts import oidc_provider
from tests.support.api_calls import ROOT, client_of, person
from tests.support.rows.tiny_world import build

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse"
TOKEN = {"name": "job", "scope": "submit", "days": "365"}
ASK = "/accounts/reauthenticate/"
UNI = "university"


@pytest.fixture(autouse=True)
def mails(settings: Any) -> None:
    settings.SENDS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def ada() -> User:
    ada = person("ada")
    EmailAddress.objects.create(user=ada, email=ada.email, primary=True, verified=True)
    return ada


def session_of(user: User, *, hours: int = 2) -> Client:
    """A session whose log-in was this many hours ago."""
    client = Client()
    client.force_login(user)
    session = client.session
    session["account_authentication_methods"][0]["at"] -= 3600 * hours
    session.save()
    return client


def copy_of(client: Client) -> Client:
    copy = Client()
    copy.cookies = deepcopy(client.cookies)
    return copy


def confirm(client: Client, response: Any, password: str = PASSWORD) -> Any:
    """Enter the password on the page to which a response leads; return the next response."""
    assert response["Location"].startswith(ASK), response["Location"]
    return client.post(response["Location"], {"password": password})


def test_a_copied_session_does_not_become_the_account(ada: User) -> None:
    thief = session_of(ada)
    thief.post("/accounts/email/", {"action_add": "", "email": "eve@evil.example"})
    assert not EmailAddress.objects.filter(email="eve@evil.example").exists() and mail.outbox == []
    EmailAddress.objects.create(user=ada, email="eve@evil.example", verified=True)
    for action, address in (("primary", "eve@evil.example"), ("remove", ada.email)):
        response = thief.post("/accounts/email/", {f"action_{action}": "", "email": address})
        assert response["Location"].startswith(ASK)
    assert EmailAddress.objects.get(primary=True).email == ada.email
    assert thief.post("/me/tokens/", TOKEN)["Location"].startswith(ASK) and not AuthToken.objects.exists()
    assert thief.get("/me/data.zip").status_code == 302


def test_a_wrong_password_changes_nothing(ada: User) -> None:
    client = session_of(ada)
    response = confirm(client, client.post("/me/tokens/", TOKEN), "wrong")
    assert response.status_code == 200 and not AuthToken.objects.exists()
    assert client.post("/me/tokens/", TOKEN)["Location"].startswith(ASK)


def test_the_request_is_made_again_after_the_password(ada: User) -> None:
    client = session_of(ada)
    page = confirm(client, client.post("/me/tokens/", TOKEN)).content.decode()
    assert "Your token" in page and AuthToken.objects.get().user == ada
    client = session_of(ada)
    confirm(client, client.post("/accounts/email/", {"action_add": "", "email": "new@holdout.example"}))
    assert EmailAddress.objects.filter(user=ada, email="new@holdout.example").exists()
    # For a while, nothing else asks.
    assert client.get("/me/data.zip").status_code == 200


def test_a_new_log_in_is_not_asked_at_once(ada: User) -> None:
    client = Client()
    client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert "Your token" in client.post("/me/tokens/", TOKEN).content.decode()


def test_a_new_account_is_not_asked_at_once(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    client, fields = Client(), {"username": "eve", "email": "eve@holdout.example"}
    client.post("/accounts/signup/", {**fields, "password1": "four letters", "password2": "four letters"})
    assert "Your token" in client.post("/me/tokens/", TOKEN).content.decode()


def test_a_confirmation_does_not_last(ada: User, settings: Any) -> None:
    client = session_of(ada)
    confirm(client, client.post("/me/tokens/", TOKEN))
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    assert client.post("/me/tokens/", TOKEN)["Location"].startswith(ASK)


def test_whoever_has_a_copy_of_the_cookie_cannot_use_the_password_of_the_user(ada: User) -> None:
    client = session_of(ada)
    thief = copy_of(client)
    stored = thief.post("/me/tokens/", {**TOKEN, "name": "thief's"})
    # The thief's request gave the session a new key, which the user does not have.
    assert "/accounts/login/" in client.get("/me/tokens/", follow=True).redirect_chain[0][0]
    assert stored["Location"].startswith(ASK)
    client = session_of(ada)
    thief = copy_of(client)
    asked = client.post("/me/tokens/", TOKEN)
    assert thief.post("/me/tokens/", {**TOKEN, "name": "thief's"})["Location"].startswith("/accounts/login/")
    confirm(client, asked)
    assert thief.get("/me/data.zip")["Location"].startswith("/accounts/login/")
    assert [token.details.name for token in AuthToken.objects.all()] == ["job"]


def test_a_stored_request_is_not_made_for_another_page(ada: User) -> None:
    client = session_of(ada)
    client.post("/me/tokens/", TOKEN)
    confirm(client, client.get("/me/data.zip"))
    assert not AuthToken.objects.exists()


def test_a_stored_request_is_not_made_when_its_page_is_only_opened(ada: User) -> None:
    client = session_of(ada)
    client.post("/me/delete/", {"username": "ada"})
    assert confirm(client, client.get("/me/delete/"))["Location"] == "/me/delete/"
    assert User.objects.filter(username="ada").exists()


@pytest.mark.parametrize("place", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_the_page_leads_to_no_other_site(ada: User, place: str) -> None:
    response = session_of(ada).post(ASK, {"password": PASSWORD, "next": place})
    assert response.status_code == 302 and response["Location"] == "/"


def test_passwords_are_not_stored_in_the_session(ada: User) -> None:
    client = session_of(ada)
    secret = {"password1": "a new secret", "password2": "a new secret"}
    response = client.post("/accounts/password/set/", secret)
    assert response["Location"] == f"{ASK}?next=%2Faccounts%2Fpassword%2Fset%2F"
    assert "secret" not in json.dumps(dict(client.session))


def test_tokens_and_old_sessions_do_not_change_who_gets_in(ada: User) -> None:
    team, bob = teams.create(name="Engines", by=ada), person("bob")
    Membership.objects.create(team=team, user=bob)
    requests = (("owner/", {"username": "bob"}), ("invitations/", {"address": "eve@evil.example"}))
    for client in (client_of(ada), session_of(ada)):
        for path, body in requests:
            response = client.post(f"{ROOT}/teams/{team.pk}/{path}", body, content_type="application/json")
            assert (response.status_code, response.json()["code"]) == (403, "reauthentication_required")
            assert "/me/teams/" in response.json()["message"]
    assert Membership.objects.get(user=ada).is_owner and not Invitation.objects.exists()
    for path, body in reversed(requests):
        response = session_of(ada, hours=0).post(
            f"{ROOT}/teams/{team.pk}/{path}", body, content_type="application/json"
        )
        assert response.status_code in (200, 201)


def test_staff_confirm_changes_in_the_admin() -> None:
    stan, eve = person("stan", is_staff=True, is_superuser=True), person("eve")
    page = f"/admin/leaderboard/user/{eve.pk}/change/"
    client = session_of(stan)
    assert client.get(page).status_code == 200
    fields = {"username": "eve", "is_curator": "on", "is_staff": "on", "is_active": "on", "email": eve.email}
    fields |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    response = client.post(page, fields)
    eve.refresh_from_db()
    assert response["Location"].startswith(ASK) and not (eve.is_curator or eve.is_staff)
    # Forms of the admin may have passwords, so they are not kept: it is sent again.
    assert confirm(client, response)["Location"] == page and "account_reauthentication_state" not in client.session
    client.post(page, fields)
    eve.refresh_from_db()
    assert eve.is_curator and eve.is_staff


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with oidc_provider.running(Claims(sub="ada"), Claims(sub="eve")) as address:
        yield address


def test_an_account_without_password_logs_in_again_at_its_provider(ada: User, settings: Any, provider: str) -> None:
    oidc_provider.configure(settings, UNI, address=provider)
    ada.set_unusable_password()
    ada.save()
    SocialAccount.objects.create(user=ada, provider=UNI, uid="ada")
    client = session_of(ada)
    response = client.post("/me/tokens/", TOKEN)
    assert response["Location"] == f"/accounts/oidc/{UNI}/login/?next=%2Fme%2Ftokens%2F"
    for path in ("/accounts/password/set/", ASK):
        assert client.get(path)["Location"].startswith(f"/accounts/oidc/{UNI}/login/")
    again = oidc_provider.log_in(client, "ada", provider=UNI, process="login&next=/me/tokens/")
    assert again["Location"] == "/me/tokens/"
    assert "Your token" in client.post("/me/tokens/", TOKEN).content.decode()


def test_without_any_other_way_a_password_is_set_by_mail(ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    response = session_of(ada).post("/me/tokens/", TOKEN)
    assert response["Location"].startswith("/accounts/password/reset/?next=")
    assert Client().get(response["Location"]).status_code == 200


def test_linking_asks_before_it_leaves_the_site(ada: User, settings: Any, provider: str) -> None:
    oidc_provider.configure(settings, UNI, address=provider)
    client = session_of(ada)
    for method in (client.get, client.post):
        assert method(f"/accounts/oidc/{UNI}/login/?process=connect")["Location"].startswith(ASK)
    assert "account_reauthentication_state" not in client.session or "callback" not in str(dict(client.session))
    oidc_provider.log_in(session_of(ada, hours=0), "ada", provider=UNI, process="connect")
    assert SocialAccount.objects.get().user == ada


def test_a_mailed_link_of_another_session_adds_nothing_to_this_one(ada: User) -> None:
    """Whoever opens a link that confirms an address confirms it for the account that asked for it."""
    bob = person("bob")
    fresh = session_of(ada, hours=0)
    fresh.post("/accounts/email/", {"action_add": "", "email": "new@holdout.example"})
    [link] = re.findall(r"(/accounts/confirm-email/\S+)", mail.outbox[0].body)
    session_of(bob).post(link)
    assert EmailAddress.objects.get(email="new@holdout.example").user == ada
    assert not EmailAddress.objects.filter(user=bob, verified=True).exists()


# Mails


def mails_to(address: str) -> list[str]:
    return [f"{message.subject}\n{message.body}" for message in mail.outbox if message.to == [address]]


def test_the_old_address_is_told_of_each_change(
    settings: Any, provider: str, django_capture_on_commit_callbacks: Any
) -> None:
    world = build()
    ada = world.researcher
    EmailAddress.objects.create(user=ada, email=ada.email, primary=True, verified=True)
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    oidc_provider.configure(settings, UNI, address=provider)
    client, bob, eve = session_of(ada, hours=0), person("bob"), person("eve")
    team, closed, deleted = (teams.create(name=name, by=ada) for name in ("Visit evil.example", "Closed", "Deleted"))
    for member in (bob, eve):
        Membership.objects.create(team=team, user=member)
    world.benchmark.organisers.add(ada)

    def link() -> None:
        oidc_provider.log_in(client, "ada", provider=UNI, process="connect")

    def post(path: str, **fields: Any) -> Any:
        return lambda: client.post(path, {name: str(value) for name, value in fields.items()})

    changes = {
        "new@holdout.example was added": post("/accounts/email/", action_add="", email="new@holdout.example"),
        "API token": post("/me/tokens/", **TOKEN),
        "UNIVERSITY": link,
        "webhook was added": post("/me/notifications/", url="https://127.0.0.1/x"),
        "webhook has a new secret": lambda: client.post(f"/me/webhooks/{ada.webhooks.get().pk}/secret/"),
        "copy of your data": lambda: client.get("/me/data.zip"),
        "eve of Visit evil[.]example": post(f"/me/teams/{team.pk}/members/{eve.pk}/remove/"),
        "closed a team": post(f"/me/teams/{closed.pk}/close/"),
        "deleted a team": post(f"/me/teams/{deleted.pk}/delete/"),
        "evil[.]example to bob": post(f"/me/teams/{team.pk}/members/{bob.pk}/transfer/"),
        "added an organiser": post(f"/manage/benchmarks/{world.benchmark.slug}/organisers/", username="bob"),
        "organiser was removed": post(f"/manage/benchmarks/{world.benchmark.slug}/organisers/{bob.pk}/remove/"),
    }
    for words, change in changes.items():
        mail.outbox.clear()
        with django_capture_on_commit_callbacks(execute=True):
            change()
        [told] = [text for text in mails_to(ada.email) if words in text]
        assert "reset your password" in told and "127.0.0.1" in told and "evil.example" not in told
    EmailAddress.objects.filter(email="new@holdout.example").update(verified=True)
    mail.outbox.clear()
    client.post("/accounts/email/", {"action_primary": "", "email": "new@holdout.example"})
    assert "changed from ada@holdout.example to new@holdout.example" in mails_to(ada.email)[0]
    mail.outbox.clear()
    client.post("/accounts/email/", {"action_remove": "", "email": ada.email})
    for address in ("new@holdout.example", ada.email):
        assert "ada@holdout.example has been removed" in mails_to(address)[0]
    mail.outbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/me/delete/", {"username": "ada"})
    assert "Your account was deleted" in mails_to("new@holdout.example")[0]


def test_a_mail_server_that_is_away_stops_no_change(ada: User, settings: Any, monkeypatch: Any) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.message.EmailMessage.send", fail)
    EmailAddress.objects.create(user=ada, email="new@holdout.example", verified=True)
    response = session_of(ada, hours=0).post("/accounts/email/", {"action_primary": "", "email": "new@holdout.example"})
    assert response.status_code == 302 and EmailAddress.objects.get(primary=True).email == "new@holdout.example"


def test_a_mail_that_cannot_be_made_changes_no_answer(
    ada: User, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(AccountAdapter, "send_notification_mail", fail)
    with django_capture_on_commit_callbacks(execute=True):
        response = session_of(ada, hours=0).post("/me/tokens/", TOKEN)
    assert "Your token" in response.content.decode()


def test_an_operator_s_command_tells_the_user(ada: User, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        curators.appoint(username="ada")
    assert "You are a curator." in mails_to(ada.email)[0]
