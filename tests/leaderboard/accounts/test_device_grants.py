"""Log-in by the browser (RFC 8628): codes give a token once their user allows it, and nothing before or after."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from knox.models import AuthToken

from leaderboard.accounts.actions import delete_account
from leaderboard.accounts.api.device_grant import GRANT
from leaderboard.models import TokenDetails, User
from tests.support.api_calls import ROOT, person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def polled_at_once(settings: Any) -> None:
    settings.IDP_OIDC_DEVICE_CODE_INTERVAL = 0


@pytest.fixture
def ada() -> User:
    return person("ada")


def post(path: str, **fields: str) -> Any:
    return Client().post(f"{ROOT}/auth/device/{path}", urlencode(fields), "application/x-www-form-urlencoded")


def begin(**fields: str) -> Any:
    return post("", **{"client_id": "holdout-eval", **fields})


def redeem(code: dict[str, Any], **fields: str) -> Any:
    request = {"grant_type": GRANT, "client_id": "holdout-eval", "device_code": code["device_code"]}
    return post("token/", **{**request, **fields})


def error_of(response: Any) -> tuple[int, str]:
    body = response.json()
    assert body["error"] == body["code"] and body["message"]
    return response.status_code, body["error"]


def decide(user: User, code: dict[str, Any], action: str = "allow", **options: Any) -> str:
    browser = Client(**options)
    browser.force_login(user)
    return browser.post("/device/", {"code": code["user_code"], "action": action}).content.decode()


def test_an_account_with_a_second_factor_gets_a_token(ada: User) -> None:
    Authenticator.objects.create(user=ada, type=Authenticator.Type.TOTP, data={"secret": "x"})
    code = begin().json()
    assert code["verification_uri"] == f"{settings.BASE_URL}/device/" and code["expires_in"] == 600
    assert code["verification_uri_complete"].endswith(f"?code={code['user_code']}")
    assert error_of(redeem(code)) == (400, "authorization_pending")
    assert Client().get("/device/", {"code": code["user_code"]})["Location"].startswith("/accounts/login/")
    browser = Client()
    browser.force_login(ada)
    page = browser.get("/device/", {"code": code["user_code"].lower()}).content.decode()
    assert code["user_code"] in page and "read and submit" in page
    assert "Logged in" in decide(ada, code)
    response = redeem(code, name="laptop")
    body = response.json()
    assert response.status_code == 200 and response["Cache-Control"] == "no-store"
    assert (body["token_type"], body["scope"]) == ("Token", "submit")
    assert (
        Client(headers={"Authorization": f"Token {body['access_token']}"}).get(f"{ROOT}/submissions/").status_code
        == 200
    )
    assert TokenDetails.objects.get().name == "laptop" and AuthToken.objects.get().user == ada
    assert error_of(redeem(code)) == (400, "invalid_grant")
    assert "wrong or has expired" in decide(ada, code)
    assert AuthToken.objects.count() == 1


def test_a_name_that_is_refused_does_not_use_up_the_code(ada: User) -> None:
    code = begin().json()
    decide(ada, code)
    assert error_of(redeem(code, name="a\x01b")) == (422, "invalid_name")
    assert redeem(code, name="laptop").status_code == 200 and TokenDetails.objects.get().name == "laptop"


def test_links_are_those_of_the_site_whatever_host_was_asked() -> None:
    fields = urlencode({"client_id": "holdout-eval"})
    headers = {"Host": "testserver:1234"}
    response = Client().post(f"{ROOT}/auth/device/", fields, "application/x-www-form-urlencoded", headers=headers)
    code = response.json()
    assert "1234" not in response.content.decode() and code["verification_uri"] == f"{settings.BASE_URL}/device/"


def test_a_log_in_that_only_reads(ada: User) -> None:
    code = begin(scope="read").json()
    browser = Client()
    browser.force_login(ada)
    assert "read only" in browser.get("/device/", {"code": code["user_code"]}).content.decode()
    decide(ada, code)
    assert redeem(code).json()["scope"] == "read"
    assert TokenDetails.objects.get().scope == TokenDetails.Scope.READ


def test_a_denied_log_in_gives_no_token(ada: User) -> None:
    code = begin().json()
    assert "Log-in denied" in decide(ada, code, "deny")
    assert error_of(redeem(code)) == (400, "access_denied")
    assert not AuthToken.objects.exists()


@pytest.mark.parametrize("event", ["password", "deletion"])
def test_an_allowed_log_in_ends_with_the_password_and_the_account(ada: User, event: str) -> None:
    code = begin().json()
    decide(ada, code)
    if event == "password":
        ada.set_password("another good horse")
        ada.save()
    else:
        delete_account.delete(user=ada)
    assert error_of(redeem(code)) == (400, "access_denied")
    assert not AuthToken.objects.exists()


def test_other_sites_cannot_allow_a_log_in(ada: User) -> None:
    code = begin().json()
    decide(ada, code, enforce_csrf_checks=True)
    assert error_of(redeem(code)) == (400, "authorization_pending")


def test_hasty_requests_and_invalid_ones_are_refused(settings: Any) -> None:
    settings.IDP_OIDC_DEVICE_CODE_INTERVAL = 60
    code = begin().json()
    assert error_of(redeem(code)) == (400, "authorization_pending")
    assert error_of(redeem(code)) == (400, "slow_down")
    assert error_of(redeem({"device_code": "x"})) == (400, "invalid_grant")
    for response in (begin(client_id="other"), begin(scope="all"), redeem(code, grant_type="password")):
        assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


def test_codes_and_guesses_are_limited(ada: User, settings: Any) -> None:
    cache.clear()
    settings.ACCOUNT_RATE_LIMITS = {"device_code": "1/m/ip"}
    settings.IDP_OIDC_RATE_LIMITS = {"device_user_code": "1/m/ip"}
    code = begin().json()
    refused = begin()
    assert error_of(refused) == (429, "throttled") and int(refused["Retry-After"]) >= 60
    assert "wrong or has expired" in decide(ada, {"user_code": "AAAA-AAAA"})
    assert "Too many attempts" in decide(ada, code)
    cache.clear()


def test_a_name_with_control_characters_is_refused(ada: User) -> None:
    code = begin().json()
    decide(ada, code)
    assert redeem(code, name="lap\u202etop").json()["code"] == "invalid_name"
    assert not AuthToken.objects.exists()
