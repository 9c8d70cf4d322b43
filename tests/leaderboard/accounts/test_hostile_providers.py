"""Log-in providers that say something else than the protocol allows: a page of a failed log-in, and no account."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from leaderboard.core import login_claims, login_providers
from leaderboard.models import User
from tests.leaderboard.accounts import oidc_provider

pytestmark = pytest.mark.django_db
UNI = "university"
SIGN_UP = "/accounts/3rdparty/signup/"
ABSENT = "absent"


class Provider:
    """Answers of a provider: path -> JSON document, or the bytes of a response."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = provider.answers[self.path]
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def honest(self) -> None:
        self.answers = {
            "/.well-known/openid-configuration": {
                "issuer": self.address,
                "authorization_endpoint": f"{self.address}/authorize",
                "token_endpoint": f"{self.address}/token",
                "userinfo_endpoint": f"{self.address}/userinfo",
                "jwks_uri": f"{self.address}/jwks",
            },
            "/userinfo": {"sub": "zyx", "email": "zyx@uni.example", "email_verified": True},
        }

    def tokens(self, **claims: Any) -> dict[str, Any]:
        payload = {"iss": self.address, "sub": "zyx", "aud": "x", "iat": time.time(), "exp": time.time() + 60}
        payload |= claims
        payload = {name: value for name, value in payload.items() if value != ABSENT}
        return {"access_token": "a", "token_type": "Bearer", "id_token": signed(payload)}


def signed(payload: Any) -> str:
    header, body = ({"alg": "RS256", "kid": "1"}, payload)
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, body)]
    return ".".join([*parts, "c2ln"])


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    provider = Provider()
    threading.Thread(target=provider.server.serve_forever, daemon=True).start()
    yield provider
    provider.server.shutdown()
    provider.server.server_close()


@pytest.fixture
def provider(running: Provider, settings: Any) -> Provider:
    oidc_provider.configure(settings, UNI, address=running.address)
    running.honest()
    return running


def log_in(provider: Provider, *, tokens: Any = None, **claims: Any) -> tuple[Client, Any]:
    """Come back from the provider. tokens: its token response; None: an honest one with these claims."""
    client = Client(raise_request_exception=False)
    begun = client.post(f"/accounts/oidc/{UNI}/login/")
    if begun.status_code != 302:
        return client, begun
    query = parse_qs(urlsplit(begun["Location"]).query)
    nonce = query.get("nonce", [""])[0]
    provider.answers["/token"] = provider.tokens(**{"nonce": nonce, **claims}) if tokens is None else tokens
    return client, client.get(f"/accounts/oidc/{UNI}/login/callback/?code=c&state={query['state'][0]}")


def assert_failed(client: Client, response: Any) -> None:
    page = response.content.decode()
    assert response.status_code == 401 and "Log-in failed" in page, (response.status_code, response.get("Location"))
    assert client.get(SIGN_UP).status_code == 302 and not SocialAccount.objects.exists() and not User.objects.exists()


def test_an_honest_provider_is_believed(provider: Provider) -> None:
    client, response = log_in(provider)
    assert response["Location"] == SIGN_UP
    client.post(SIGN_UP, {"username": "zyxomma", "email": "zyx@uni.example"})
    assert SocialAccount.objects.get().uid == "zyx"


SUBJECTS = [None, 5, True, [], {}, "", "s" * 256, "s" * 5000, "zyx\0", " zyx", "\u0430\u0430", "zyx\n"]


@pytest.mark.parametrize("sub", [*SUBJECTS, ABSENT], ids=lambda value: repr(value)[:12])
def test_a_sub_is_a_short_text(provider: Provider, sub: Any) -> None:
    userinfo = {"sub": sub, "email": "zyx@uni.example"}
    provider.answers["/userinfo"] = {name: value for name, value in userinfo.items() if value != ABSENT}
    assert_failed(*log_in(provider, sub=sub))


@pytest.mark.parametrize(
    "userinfo",
    [
        *({}, [], "zyx", 5, None, [{}], [[]]),
        {"sub": "another"},
        {"sub": "zyx", "email": 5},
        {"sub": "zyx", "email": ["zyx@uni.example"]},
        {"sub": "zyx", "email": "a" * 300 + "@uni.example"},
        {"sub": "zyx", "preferred_username": {}},
        {"sub": "zyx", "name": "\ud800"},
        {"sub": "zyx", "name": "a\0b"},
        {"sub": "zyx", "name": "a" * 5000},
        b"",
        b"<html>",
        b"[" * 100_000,
        b'{"sub": "zyx", "more": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"sub": NaN}',
        b"\xff\xfe",
        b'{"sub": "zyx"}' + b" " * 1_100_000,
    ],
    ids=lambda value: repr(value)[:30],
)
def test_userinfo_is_an_object_about_the_same_person(provider: Provider, userinfo: Any) -> None:
    provider.answers["/userinfo"] = userinfo
    assert_failed(*log_in(provider))


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": ABSENT},
        {"nonce": "another"},
        {"nonce": 5},
        {"iss": "https://evil.example"},
        {"iss": ABSENT},
        {"aud": "another"},
        {"aud": ABSENT},
        {"aud": {"x": 1}},
        {"aud": ["x", "y"]},
        {"azp": "y"},
        {"exp": ABSENT},
        {"exp": "5"},
        {"exp": time.time() + 1e300},
        {"exp": 5},
        {"iat": ABSENT},
        {"iat": "now"},
        {"sub": "another"},
        {"jti": [1]},
    ],
    ids=repr,
)
def test_an_id_token_is_for_this_log_in(provider: Provider, claims: dict[str, Any]) -> None:
    assert_failed(*log_in(provider, **claims))


def test_an_id_token_of_an_earlier_log_in_is_refused(provider: Provider) -> None:
    log_in(provider)
    assert_failed(*log_in(provider, tokens=provider.answers["/token"]))


@pytest.mark.parametrize(
    "tokens",
    [
        *([], "access_token", 5, {}, b"", b"access_token=a"),
        {"access_token": {}},
        {"access_token": "a"},
        {"access_token": "a", "id_token": 5},
        {"access_token": "a", "id_token": "a.b"},
        {"access_token": "a", "id_token": "a.!.c"},
        {"access_token": "a", "id_token": signed([])},
        {"access_token": "a", "id_token": signed("zyx")},
        {"access_token": "a", "expires_in": "soon"},
        {"access_token": "a", "expires_in": 10**30},
    ],
    ids=lambda value: repr(value)[:40],
)
def test_tokens_are_texts(provider: Provider, tokens: Any) -> None:
    assert_failed(*log_in(provider, tokens=tokens))


@pytest.mark.parametrize("token", ["\u20ac", "a\nb", ""])
def test_an_access_token_fits_in_a_header(provider: Provider, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    honest = provider.tokens
    monkeypatch.setattr(provider, "tokens", lambda **claims: honest(**claims) | {"access_token": token})
    assert_failed(*log_in(provider))


@pytest.mark.parametrize(
    "name", ["issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"]
)
@pytest.mark.parametrize("value", [ABSENT, None, 5, "javascript:alert(1)", "http://192.0.2.1/", "https://[", ""])
def test_a_configuration_has_addresses(provider: Provider, name: str, value: Any) -> None:
    if name == "issuer" and isinstance(value, str):
        return  # it is only compared
    configuration = provider.answers["/.well-known/openid-configuration"]
    configuration[name] = value
    if value == ABSENT:
        del configuration[name]
    assert_failed(*log_in(provider))


@pytest.mark.parametrize("configuration", [[], {}, "", 5, b"<html>"], ids=repr)
def test_a_configuration_is_an_object(provider: Provider, configuration: Any) -> None:
    provider.answers["/.well-known/openid-configuration"] = configuration
    assert_failed(*log_in(provider))


def test_a_link_to_the_log_in_adds_no_parameters(provider: Provider) -> None:
    path = f"/accounts/oidc/{UNI}/login/?scope=admin&auth_params=nonce%3Dx%26redirect_uri%3Dhttps://evil.example"
    location = Client().post(path)["Location"]
    query = parse_qs(urlsplit(location).query)
    assert "evil" not in location and "admin" not in query["scope"][0]
    assert query["nonce"] == [login_claims.nonce_of(query["state"][0])]


@pytest.mark.parametrize(
    ("user", "emails"),
    [
        *(
            (said, [])
            for said in ([], {}, "x", {"id": None}, {"id": "5"}, {"id": True}, {"id": -1}, {"id": 5, "login": 5})
        ),
        *(({"id": 5}, said) for said in ({"email": 5}, [5], [{}], [{"email": 5, "primary": True, "verified": True}])),
    ],
    ids=repr,
)
def test_github_is_checked_too(provider: Provider, settings: Any, monkeypatch: Any, user: Any, emails: Any) -> None:
    from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter

    settings.LOGIN_PROVIDERS = login_providers.configured(orcid="", github="x:y", google="", oidc="")
    settings.SOCIALACCOUNT_PROVIDERS = login_providers.allauth_settings(settings.LOGIN_PROVIDERS)
    provider.answers |= {"/token": {"access_token": "a"}, "/user": user, "/emails": emails}
    for name, path in (("access_token_url", "/token"), ("profile_url", "/user"), ("emails_url", "/emails")):
        monkeypatch.setattr(GitHubOAuth2Adapter, name, provider.address + path)
    client = Client(raise_request_exception=False)
    [state] = parse_qs(urlsplit(client.post("/accounts/github/login/")["Location"]).query)["state"]
    assert_failed(client, client.get(f"/accounts/github/login/callback/?code=c&state={state}"))
