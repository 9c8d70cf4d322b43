"""Private pages are stored nowhere (`no-store, private`); public ones keep their ETags and Cache-Control."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.support.rows.module_rows import shared
from tests.support.rows.roles import Cast, cast

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"
everybody, _django_db_helper = shared(cast)


@pytest.mark.parametrize("page", ["login", "signup", "password/reset"])
def test_forms_with_a_token_are_not_stored(page: str, settings: Any) -> None:
    settings.SENDS_MAIL = True  # else nobody can reset a password by mail, and the page has no form
    answer = Client().get(f"/accounts/{page}/")
    assert answer.cookies and "no-store" in answer["Cache-Control"] and "private" in answer["Cache-Control"]


@pytest.mark.parametrize("role", ["anonymous", "A", "curator"])
def test_public_pages_keep_their_caching(everybody: Cast, role: str) -> None:
    client = everybody.client(role)
    board = client.get(BOARD)
    assert board.status_code == 200 and board["ETag"] and "no-store" not in board.get("Cache-Control", "")
    if role != "anonymous":
        for address in ("/", "/benchmarks/tiny/", BOARD, f"{BOARD}progress/", "/tasks/", "/about/"):
            assert "private" in client.get(address).get("Cache-Control", ""), address
    revalidated = client.get(BOARD, headers={"If-None-Match": board["ETag"]})
    # The form that logs a user out has a token that differs in each response.
    assert revalidated.status_code == (304 if role == "anonymous" else 200)
    assert "public" in client.get(f"{BOARD}embed/")["Cache-Control"]


def test_pages_for_anonymous_readers_may_be_stored(everybody: Cast) -> None:
    for answer in map(everybody.client("anonymous").get, ("/", "/benchmarks/tiny/", BOARD)):
        assert answer.status_code == 200 and "no-store" not in answer.get("Cache-Control", "")
