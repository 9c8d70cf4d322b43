"""Log-in without a password in a real browser: by an account elsewhere, and `holdout-eval login` by a passkey."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oidc_provider_mock import User as Claims
from playwright.sync_api import Browser, Page, expect

from leaderboard.models import User
from tests.browser.conftest import ROOT, Watch
from tests.leaderboard.accounts import oidc_provider
from tests.support.api_calls import person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def visitor(chromium: Browser, live_server: Any) -> Iterator[Page]:
    """Open a page of the live server; the test fails on any script error or violation of the policy."""
    context = chromium.new_context(base_url=live_server.url)
    page, watch = context.new_page(), Watch()
    watch.follow(page)
    yield page
    context.close()
    assert watch.faults == []


def test_sign_up_with_an_account_elsewhere(visitor: Page, settings: Any) -> None:
    claims = Claims(sub="zyx", claims={"email": "zyx@uni.example", "email_verified": True})
    with oidc_provider.running(claims) as address:
        oidc_provider.configure(settings, "university", address=address)
        visitor.goto("/accounts/signup/")
        visitor.get_by_role("button", name="Sign up with UNIVERSITY").click()
        visitor.get_by_role("button", name="zyx").click()
        visitor.get_by_label("Username").fill("zyx")
        expect(visitor.get_by_label("Email")).to_have_value("zyx@uni.example")
        visitor.get_by_role("button", name="Sign up").click()
        visitor.wait_for_url("**/")
        visitor.goto("/accounts/3rdparty/")
        expect(visitor.get_by_role("row", name="UNIVERSITY")).to_be_visible()
    assert not User.objects.get(username="zyx").has_usable_password()


def test_the_command_logs_in_with_a_passkey(visitor: Page, live_server: Any, settings: Any, tmp_path: Path) -> None:
    settings.BASE_URL = live_server.url
    person("ada")
    devtools = visitor.context.new_cdp_session(visitor)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    visitor.goto("/accounts/login/?next=/accounts/2fa/webauthn/add/")
    visitor.get_by_label("Username or email").fill("ada")
    visitor.get_by_label("Password").fill("correct horse")
    # The log-in has just shown who it is.
    visitor.get_by_role("button", name="Log in", exact=True).click()
    visitor.get_by_role("button", name="Add passkey").click()
    expect(visitor.get_by_role("heading", name="Recovery codes")).to_be_visible()
    visitor.context.clear_cookies()

    env = {name: value for name, value in os.environ.items() if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
    command = subprocess.Popen(
        [sys.executable, "-m", "evaluator", "login", "--server", live_server.url],
        cwd=ROOT,
        env={**env, "XDG_CONFIG_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert command.stderr is not None
        lines = iter(command.stderr.readline, "")
        shown = next(match for line in lines if (match := re.search(r"open (\S+) .* enter the code (\S+)", line)))
        visitor.goto(shown[1])
        visitor.get_by_role("button", name="Log in with a passkey").click()
        visitor.get_by_label("Code").fill(shown[2])
        visitor.get_by_role("button", name="Continue").click()
        visitor.get_by_role("button", name="Allow").click()
        expect(visitor.get_by_role("heading", name="Logged in")).to_be_visible()
        assert command.wait(60) == 0
    finally:
        command.kill()
        command.communicate()
    assert (tmp_path / "holdout" / "servers.json").exists()
    visitor.goto("/me/tokens/")
    expect(visitor.get_by_role("row", name="holdout-eval login on")).to_be_visible()
