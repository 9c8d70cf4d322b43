"""`holdout-eval login` by the browser: what it shows, how it waits, and what it stores, against a live server."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from knox.models import AuthToken

from evaluator.cli.main import main
from evaluator.cli.server import browser_login
from evaluator.client import token_store
from evaluator.client.http import RefusedError, Server, UnavailableError
from evaluator.errors import UsageError
from leaderboard.models import TokenDetails
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> list[str]:
    """Record the addresses that a graphical browser would show."""
    addresses: list[str] = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    settings.IDP_OIDC_DEVICE_CODE_INTERVAL = 0
    return addresses


def decide(address: str, action: str) -> None:
    browser = Client()
    browser.force_login(person("ada"))
    browser.post("/device/", {"code": address.rpartition("=")[2], "action": action})


def test_the_browser_opens_and_the_token_is_stored(
    opened: list[str], monkeypatch: pytest.MonkeyPatch, live_server: Any, capsys: Any, settings: Any
) -> None:
    settings.BASE_URL = live_server.url
    monkeypatch.setattr(browser_login.token, "__kwdefaults__", {"pause": lambda _: decide(opened[0], "allow")})
    assert main(["login", "--server", live_server.url]) == 0
    printed = capsys.readouterr().err
    code = opened[0].rpartition("=")[2]
    assert opened[0] == f"{live_server.url}/device/?code={code}" and code in printed
    assert list(token_store.read().tokens) == [live_server.url]
    assert re.search(r"the token expires on \d{4}-\d\d-\d\d", printed)
    assert TokenDetails.objects.get().name.startswith("holdout-eval login on ")


def test_without_a_display_the_address_is_printed(
    opened: list[str], monkeypatch: pytest.MonkeyPatch, live_server: Any, capsys: Any
) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    def pause(_: float) -> None:
        code = re.search(r"enter the code (\S+)", capsys.readouterr().err)
        assert code
        decide(f"={code[1]}", "deny")

    with pytest.raises(RefusedError, match="denied"):
        browser_login.token(Server(live_server.url, None), "x", pause=pause)
    assert not opened and not AuthToken.objects.exists()


class Scripted:
    """A server whose responses are given; exceptions are raised."""

    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)

    def request(self, *_: Any, **__: Any) -> Any:
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response


CODE = {
    "verification_uri": "http://x/device/",
    "verification_uri_complete": "http://x/device/?code=A",
    "user_code": "A",
    "device_code": "d",
    "expires_in": 60,
    "interval": 5,
}


def test_it_slows_down_and_survives_a_broken_connection(opened: list[str]) -> None:
    pauses: list[float] = []
    refusals = [RefusedError(400, code, "") for code in ("authorization_pending", "slow_down")]
    issued = {"access_token": "secret", "expires_in": 86400}
    server = Scripted(CODE, *refusals, UnavailableError("away"), issued)
    assert browser_login.token(server, "x", pause=pauses.append)[0] == "secret"  # type: ignore[arg-type]
    assert pauses == [5, 10, 20]


def test_an_expired_code_ends_the_wait(opened: list[str]) -> None:
    pending = RefusedError(400, "authorization_pending", "")
    for responses in ([RefusedError(400, "invalid_grant", "")], [pending] * 12):
        with pytest.raises(UsageError, match="expired"):
            browser_login.token(Scripted(CODE, *responses), "x", pause=lambda _: None)  # type: ignore[arg-type]


def test_a_server_of_an_earlier_version(opened: list[str]) -> None:
    with pytest.raises(UsageError, match="--user"):
        browser_login.token(Scripted(RefusedError(404, "not_found", "")), "x")  # type: ignore[arg-type]
