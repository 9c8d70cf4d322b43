"""Links in mails point to BASE_URL, whatever Host header the request had."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
BASE = "https://board.example:8443"
FORGED = "evil.example:1337"
PASSWORD = "correct horse battery staple"


def sign_up(address: str) -> tuple[str, dict[str, str]]:
    return "signup", {"username": "eve", "email": address, "password1": PASSWORD, "password2": PASSWORD}


@pytest.mark.parametrize(
    ("page", "fields"),
    [
        ("password/reset", {"email": "ada@holdout.example"}),
        ("password/reset", {"email": "nobody@holdout.example"}),
        sign_up("eve@holdout.example"),
        sign_up("ada@holdout.example"),
    ],
    ids=["reset", "reset-unknown", "confirm", "sign-up-known"],
)
def test_a_forged_host_is_in_no_mail(page: str, fields: dict[str, str], settings: Any, mailoutbox: list[Any]) -> None:
    settings.ALLOWED_HOSTS, settings.BASE_URL = ["*"], BASE
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    person("ada")
    Client().post(f"/accounts/{page}/", fields, headers={"Host": FORGED})
    (mail,) = mailoutbox
    assert "evil" not in mail.message().as_string()
    links = re.findall(r"https?://\S+", mail.body)
    assert links and all(link.startswith(f"{BASE}/accounts/") for link in links)
    assert Client().get(links[0].removeprefix(BASE)).status_code in (200, 302)
