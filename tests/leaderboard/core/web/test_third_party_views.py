"""Malformed input to django-allauth's and the admin's views: no internal error, for anybody, and nothing hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest
from allauth.account.views import LoginView
from django.test import Client
from structlog.testing import capture_logs

from leaderboard.accounts.web.adapter import AccountAdapter
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
LOG_IN = "/accounts/2fa/webauthn/login/"
DATA = {"clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AA", "attestationObject": "AA"}
CREDENTIALS = [
    *("", "x", "[]", "{}", "5", "null", '"x"', "[" * 5000, '{"id": "\\u0000"}', "\0", "NaN", "9" * 5000),
    *(
        json.dumps({"id": "AA", "rawId": raw_id, "type": kind, "response": response})
        for raw_id in ("AA", 5, None)
        for kind in ("public-key", 5)
        for response in (DATA, {**DATA, "clientDataJSON": "W10"}, {**DATA, "userHandle": 5}, {}, [], None, "x")
    ),
    *(
        json.dumps({"id": "AA", "rawId": "AA", "response": {**DATA, name: value}})
        for name in DATA
        for value in (5, "!", [])
    ),
    *(json.dumps({"id": "AA", "response": {**DATA, "userHandle": value}}) for value in ("AA", "!", "NQ", "OTk5", 5)),
]


def browser(user: Any = None) -> Client:
    client = Client(raise_request_exception=False)
    if user:
        client.force_login(user)
    return client


def test_malformed_passkeys_are_no_internal_error() -> None:
    pages = [(browser(), LOG_IN), (browser(person("ada")), "/accounts/2fa/webauthn/add/")]
    for client, url in pages:
        client.get(url)  # begins, and stores a challenge
        for credential in CREDENTIALS:
            response = client.post(url, {"name": "x", "credential": credential})
            assert response.status_code in (200, 302, 400), (url, credential[:200], response.status_code)
            if response.status_code == 400:
                assert b"could not be understood" in response.content


PAGES = (
    *("login", "signup", "password/reset", "confirm-email/x", "email", "reauthenticate", "password/change", "logout"),
    *("password/reset/key/1-x", "password/reset/key/99999999999999999999-x", "3rdparty", "3rdparty/signup"),
    *(
        "2fa/authenticate",
        "2fa/totp/activate",
        "2fa/recovery-codes/generate",
        "2fa/webauthn/keys/99999999999999999999/edit",
    ),
    *("github/login", "github/login/callback", "oidc/university/login", "oidc/x/login/callback"),
)
NAMES = (
    "login",
    "password",
    "email",
    "username",
    "account",
    "code",
    "key",
    "next",
    "state",
    "process",
    "action_add",
    "pk",
)
VALUES = ("\0", "\ud800", "//[")


@pytest.mark.parametrize("is_user", [False, True])
def test_malformed_forms_are_no_internal_error(is_user: bool) -> None:
    ada = person("ada")
    for page in PAGES:
        for value in VALUES:
            client = browser(ada if is_user else None)
            fields = dict.fromkeys(NAMES, value.encode("utf-8", "surrogatepass").decode("latin-1"))
            for ask in (client.post, client.get):
                response = ask(f"/accounts/{page}/", fields)
                assert response.status_code < 500, (page, value, response.status_code)


def test_malformed_queries_of_the_admin_are_no_internal_error() -> None:
    client = browser(person("stan", is_staff=True, is_superuser=True))
    for path in (
        "user/?o=x",
        "user/?p=-5",
        "user/?q=%00",
        "user/?date_joined__gte=x",
        "user/99999999999999999999/change/",
    ):
        assert client.get(f"/admin/leaderboard/{path}").status_code < 500, path
    for path in ("user/?id__in=%00", "user/?_facets=x", "team/add/?members=x", "user/%00/change/"):
        assert client.get(f"/admin/leaderboard/{path}").status_code < 500, path


def failing(*_: Any, **__: Any) -> None:
    raise KeyError("secret")


def test_the_failure_is_logged_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoginView, "form_invalid", lambda *_: int("secret"))
    with capture_logs() as logs:
        response = browser().post("/accounts/login/", {})
    assert response.status_code == 400 and b"secret" not in response.content
    [entry] = [entry for entry in logs if entry["event"] == "third_party_view_failed"]
    assert (entry["log_level"], entry["kind"], entry["error"]) == ("error", "account_login", "ValueError")
    assert "mixins.py" in entry["at"] and "secret" not in str(entry)


def test_faults_of_the_site_stay_internal_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        # As if the adapter failed, whose file is in the traceback.
        code = failing.__code__.replace(co_filename=AccountAdapter.pre_authenticate.__code__.co_filename)
        patch.setattr(AccountAdapter, "pre_authenticate", type(failing)(code, {"KeyError": KeyError}))
        assert browser().post("/accounts/login/", {"login": "ada", "password": "x"}).status_code == 500
    monkeypatch.setattr(LoginView, "get_context_data", failing)
    assert browser().get("/accounts/login/").status_code == 500  # it had no input
    assert browser().get("/accounts/login/?next=x").status_code == 400
