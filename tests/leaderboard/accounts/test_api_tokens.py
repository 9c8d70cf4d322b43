"""API tokens: issued for a correct password only, throttled by address, stored hashed, invalid after revocation."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from leaderboard import api_urls
from leaderboard.accounts.actions import tokens
from leaderboard.core.refusal import Refused
from leaderboard.models import AuditEntry, TokenDetails, User
from tests.support.api_calls import ROOT, error_of, person

pytestmark = pytest.mark.django_db
TOKENS = f"{ROOT}/auth/tokens/"
NEW = "another good horse"


@pytest.fixture
def ada():
    return person("ada")


def request_token(username: str = "ada", password: str = "correct horse", **headers: Any) -> Any:
    body = json.dumps({"username": username, "password": password})
    return Client(raise_request_exception=False).post(TOKENS, body, content_type="application/json", **headers)


def own_tokens(secret: str, scheme: str = "Token") -> Any:
    return Client(headers={"Authorization": f"{scheme} {secret}"}).get(f"{ROOT}/submissions/")


def test_a_password_gives_a_token_that_is_stored_hashed(ada):
    answer = request_token()
    assert answer.status_code == 201 and answer["Cache-Control"] == "no-store"
    body = answer.json()
    assert body["username"] == "ada"
    assert own_tokens(body["token"]).status_code == 200
    token = AuthToken.objects.get()
    assert body["token"] not in (token.digest, token.token_key)
    assert timedelta(days=89) < token.expiry - timezone.now() < timedelta(days=91)
    assert AuditEntry.objects.get(action="token.issued").actor == ada


def test_the_mail_address_works_like_the_username(ada):
    assert request_token("ada@holdout.example").status_code == 201


def test_a_form_works_like_json(ada):
    answer = Client().post(TOKENS, "username=ada&password=correct+horse", "application/x-www-form-urlencoded")
    assert answer.status_code == 201


def test_a_wrong_password_and_a_wrong_name_get_the_same_answer(ada):
    wrong, unknown = request_token(password="wrong"), request_token("nobody")
    assert (wrong.status_code, error_of(wrong)) == (unknown.status_code, error_of(unknown))
    assert wrong.json()["code"] == "authentication_failed"
    assert not AuthToken.objects.exists()


def test_a_deactivated_account_gets_no_token(ada):
    ada.is_active = False
    ada.save()
    assert error_of(request_token()) == error_of(request_token("nobody"))


def test_the_second_factor_cannot_be_bypassed(ada):
    Authenticator.objects.create(user=ada, type=Authenticator.Type.TOTP, data={"secret": "x"})
    answer = request_token()
    assert (answer.status_code, answer.json()["code"]) == (403, "second_factor")
    assert request_token(password="wrong").json()["code"] == "authentication_failed"
    assert not AuthToken.objects.exists()


def test_the_verification_of_the_address_cannot_be_bypassed(ada, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    answer = request_token()
    assert (answer.status_code, answer.json()["code"]) == (403, "email_not_verified")
    assert request_token(password="wrong").json()["code"] == "authentication_failed"
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True, primary=True)
    assert request_token().status_code == 201


def test_guessing_is_throttled_by_address_and_locks_nobody_out(ada, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/m/ip"}
    cache.clear()
    guesses = [request_token(password=f"guess {n}", REMOTE_ADDR="192.0.2.1").status_code for n in range(5)]
    assert guesses == [401, 401, 401, 429, 429]
    assert request_token(REMOTE_ADDR="192.0.2.1").json()["code"] == "throttled"
    forged = {"X-Forwarded-For": "192.0.2.7"}
    assert request_token(REMOTE_ADDR="192.0.2.1", headers=forged).status_code == 429
    assert request_token(REMOTE_ADDR="192.0.2.2").status_code == 201
    cache.clear()


def test_behind_a_proxy_the_address_comes_from_the_proxy_header(ada, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "1/m/ip"}
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    cache.clear()
    guesses = [
        request_token(password="guess", headers={"X-Forwarded-For": f"{forged}, {address}"}).status_code
        for forged, address in (
            ("203.0.113.1", "192.0.2.1"),
            ("203.0.113.2", "192.0.2.1"),
            ("203.0.113.1", "192.0.2.2"),
        )
    ]
    assert guesses == [401, 429, 401]
    cache.clear()


def test_a_revoked_token_is_rejected(ada):
    secret = request_token().json()["token"]
    other = request_token().json()["token"]
    client = Client(headers={"Authorization": f"Token {secret}"})
    assert client.delete(f"{TOKENS}current/").status_code == 204
    assert client.delete(f"{TOKENS}current/").status_code == 401
    assert (own_tokens(secret).status_code, own_tokens(other).status_code) == (401, 200)
    # Public pages are refused too: a client must notice that its token was revoked.
    assert client.get(f"{ROOT}/tasks/").json()["code"] == "authentication_failed"


def change(ada, mailoutbox) -> None:
    browser = Client()
    browser.force_login(ada)
    fields = {"oldpassword": "correct horse", "password1": NEW, "password2": NEW}
    page = browser.post("/accounts/password/change/", fields, follow=True)
    assert "all your API tokens are revoked" in page.content.decode()


def reset(ada, mailoutbox) -> None:
    client = Client()
    client.post("/accounts/password/reset/", {"email": ada.email})
    page = client.get(re.search(r"/accounts/password/reset/key/\S+", mailoutbox[0].body)[0], follow=True)
    done = client.post(page.redirect_chain[-1][0], {"password1": NEW, "password2": NEW}, follow=True)
    assert "all your API tokens are revoked" in done.content.decode()


def change_in_the_admin(ada, mailoutbox, **fields: str) -> None:
    operator = Client()
    operator.force_login(person("olga", is_staff=True, is_superuser=True))
    form = {"password1": NEW, "password2": NEW, "usable_password": "true", **fields}
    assert operator.post(f"/admin/leaderboard/user/{ada.pk}/password/", form).status_code == 302


def disable_in_the_admin(ada, mailoutbox) -> None:
    change_in_the_admin(ada, mailoutbox, password1="", password2="", usable_password="false", **{"unset-password": "1"})


@pytest.mark.parametrize("act", [change, reset, change_in_the_admin, disable_in_the_admin])
def test_a_new_password_ends_every_token(ada, mailoutbox, act):
    secrets = [request_token().json()["token"] for _ in range(2)]
    other = tokens.issue(by=person("bob"))[1]
    act(ada, mailoutbox)
    assert [own_tokens(secret).status_code for secret in (*secrets, other)] == [401, 401, 200]
    entry = AuditEntry.objects.get(action="token.ended_by_password")
    assert entry.subject == f"user:{ada.pk}" and sorted(entry.detail["tokens"]) == sorted(s[:15] for s in secrets)
    ada.refresh_from_db()
    browser = Client()
    browser.force_login(ada)
    assert "This revoked 2 tokens" in browser.get("/me/tokens/").content.decode()
    assert (
        "This revoked"
        not in browser.post("/me/tokens/", {"name": "job", "scope": "submit", "days": "90"}).content.decode()
    )


def test_other_changes_of_a_user_and_a_renewed_hash_end_no_token(ada, settings):
    secret = request_token().json()["token"]
    ada.refresh_from_db()
    ada.first_name = "Ada"
    ada.save()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", *settings.PASSWORD_HASHERS]
    assert ada.check_password("correct horse") and ada.password.startswith("pbkdf2")
    assert own_tokens(secret).status_code == 200


def test_a_token_requested_with_the_old_password_is_not_issued_after_the_change(ada):
    """A request that has checked the old password reaches the database after the change."""
    changed = User.objects.get()
    changed.set_password(NEW)
    changed.save()
    with pytest.raises(Refused):
        tokens.issue(by=ada)
    assert not AuthToken.objects.exists()


@pytest.mark.parametrize("act", [change, reset, change_in_the_admin, disable_in_the_admin])
def test_a_password_and_the_end_of_its_tokens_are_stored_together(ada, mailoutbox, monkeypatch, act):
    request_token()
    monkeypatch.setattr(AuditEntry, "record", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        act(ada, mailoutbox)
    ada.refresh_from_db()
    assert ada.check_password("correct horse") and AuthToken.objects.exists()


def test_an_expired_token_is_rejected(ada):
    secret = request_token().json()["token"]
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert own_tokens(secret).status_code == 401


def test_a_session_has_no_token_to_revoke(ada):
    browser = Client()
    browser.force_login(ada)
    assert browser.delete(f"{TOKENS}current/").status_code == 400


@pytest.mark.parametrize(
    "header", ["Token", "Token a b", "Token \xff\xfe", "Token " + "x" * 100_000, "Bearer x", "\x00"]
)
def test_a_malformed_authorization_header_is_no_server_error(ada, header):
    answer = Client(raise_request_exception=False, HTTP_AUTHORIZATION=header).get(f"{ROOT}/submissions/")
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b'"ada"', 400),
        (b'{"username": "ada"}', 400),
        (b'{"username": ["ada"], "password": {"x": 1}}', 400),
        (b'{"username": "a\\u0000", "password": "x"}', 400),
        (b'{"username": "\\ud800", "password": "x"}', 400),
        (b'{"username": "ada", "password": "\\ud800"}', 400),
        (b'{"username": "' + b"a" * 255 + b'", "password": "x"}', 400),
        (b'{"username": NaN, "password": "x"}', 400),
        (b"[" * 100_000, 400),
        (b'{"username": ' + b"9" * 5000 + b', "password": "x"}', 400),
        (b"\xff\xfe", 400),
        (b" " * 1_100_000, 413),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, bytes) else None,
)
def test_malformed_credentials_are_a_client_error(ada, body, status):
    answer = Client(raise_request_exception=False).post(TOKENS, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    assert answer.json()["code"]


def test_no_password_is_logged(ada, caplog):
    caplog.set_level(0)
    request_token(password="hunter2 is my secret")
    assert "hunter2" not in caplog.text


def issued(ada: User, **described: Any) -> Any:
    return Client(headers={"Authorization": f"Token {tokens.issue(by=ada, **described)[1]}"})


def test_a_read_only_token_reads_and_revokes_itself_and_does_nothing_else(ada):
    client = issued(ada, scope="read")
    assert client.get(f"{ROOT}/submissions/").status_code == 200
    routes = [route for route, view in api_views() if {"post", "delete"} & set(dir(view))]
    assert len(routes) > 10
    for route in routes:
        for verb in ("post", "delete", "put", "patch"):
            if "/auth/" not in route:  # a log-in by the browser needs no token
                answer = getattr(client, verb)(route)
                assert (answer.status_code, answer.json()["code"]) == (403, "read_only_token"), (verb, route)
    assert client.delete(f"{TOKENS}current/").status_code == 204
    assert not AuthToken.objects.exists()


def api_views() -> list[tuple[str, Any]]:
    """Return an address of each view of the API with its class."""
    values = {"pk": {"uuid": uuid4(), "int": 1}, "slug": "tiny", "phase": "test"}

    def address(match: re.Match[str]) -> str:
        kind, name = (["str", *match[1].split(":")])[-2:]
        value = values.get(name, 1)
        return str(value.get(kind, 1) if isinstance(value, dict) else value)

    return [
        (f"{ROOT}/{re.sub('<([^>]+)>', address, str(pattern.pattern))}", pattern.callback.view_class)
        for pattern in api_urls.urlpatterns
        if hasattr(getattr(pattern, "callback", None), "view_class") and not str(pattern.pattern).startswith("^")
    ]


def test_the_last_use_is_recorded_to_the_day(ada):
    client = issued(ada, name="nightly job")
    assert TokenDetails.objects.get().last_used is None
    client.get(f"{ROOT}/submissions/")
    assert TokenDetails.objects.get().last_used == timezone.now().date()
    TokenDetails.objects.update(last_used=timezone.now().date() - timedelta(days=1))
    client.get(f"{ROOT}/submissions/")
    assert TokenDetails.objects.get().last_used == timezone.now().date()


def test_a_token_from_before_scopes_works_and_gets_its_last_use(ada):
    secret = tokens.issue(by=ada)[1]
    TokenDetails.objects.all().delete()
    client = Client(headers={"Authorization": f"Token {secret}"})
    assert client.post(f"{ROOT}/teams/", {"name": "New team"}, "application/json").status_code == 201
    details = TokenDetails.objects.get()
    assert (details.scope, details.last_used) == ("submit", timezone.now().date())


@pytest.mark.parametrize("days", tokens.LIFETIMES)
def test_a_token_ends_when_it_expires(ada, days):
    client = issued(ada, days=days)
    left = AuthToken.objects.get().expiry - timezone.now()
    assert timedelta(days=days - 1) < left <= timedelta(days=days)
    AuthToken.objects.update(expiry=timezone.now())
    assert client.get(f"{ROOT}/submissions/").status_code == 401


def test_the_api_takes_name_scope_and_days(ada):
    body = {"username": "ada", "password": "correct horse", "name": "laptop", "scope": "read", "days": 30}
    answer = Client().post(TOKENS, body, "application/json").json()
    assert (answer["name"], answer["scope"]) == ("laptop", "read")
    assert TokenDetails.objects.get().scope == "read"
    for wrong in ({"scope": "all"}, {"days": 36500}, {"name": "x" * 61}):
        refused = Client().post(TOKENS, {**body, **wrong}, "application/json")
        assert refused.status_code == 400 and set(refused.json()["fields"]) == set(wrong)


def test_the_page_lists_name_scope_and_last_use(ada):
    browser = Client()
    browser.force_login(ada)
    fields = {"name": "<b>job</b>", "scope": "read", "days": "365"}
    assert "Your token" in browser.post("/me/tokens/", fields).content.decode()
    page = browser.get("/me/tokens/").content.decode()
    for text in ("&lt;b&gt;job&lt;/b&gt;", "read only", "never", f"{timezone.now() + timedelta(days=365):%Y-%m-%d}"):
        assert text in page, text
    assert browser.post("/me/tokens/", {**fields, "days": "9999"}).status_code == 422
    assert AuthToken.objects.count() == 1
