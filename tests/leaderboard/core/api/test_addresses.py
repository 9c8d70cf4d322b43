"""Links in API responses lead to the site's own address, whatever Host header a client sends."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.actions import teams
from tests.support.api_calls import ROOT, client_of
from tests.support.rows.tiny_world import build

pytestmark = pytest.mark.django_db
SITE = "https://board.example"


def test_links_have_the_address_of_the_site(settings: Any) -> None:
    settings.BASE_URL = SITE
    researcher = build().researcher
    ada = client_of(researcher)
    pages = ["benchmarks/", "benchmarks/tiny/", "benchmarks/tiny/phases/test/leaderboard/", "teams/?page_size=1"]
    for name in ("One", "Two"):
        teams.create(name=name, by=researcher)
    for page in pages:
        content = ada.get(f"{ROOT}/{page}", headers={"Host": "testserver:1234"}).content.decode()
        assert "testserver" not in content, page
        assert SITE in content or page.endswith("/leaderboard/"), page  # the board has only one page
    page_of_site = Client().get("/", headers={"Host": "testserver:1234"}).content.decode()
    assert "testserver" not in page_of_site and f">{SITE}/<" in page_of_site  # printed pages show it
    assert '"next":"' + SITE in content.replace(": ", ":")


def test_a_local_site_is_reached_by_the_address_that_was_asked(settings: Any) -> None:
    build()
    settings.BASE_URL = "http://127.0.0.1:8000"
    response = Client().get(f"{ROOT}/benchmarks/", headers={"Host": "testserver:1234"})
    assert "http://testserver:1234/" in response.content.decode()
