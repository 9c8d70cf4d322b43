"""Private pages are stored nowhere (`no-store, private`); public ones keep their ETags and Cache-Control."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from django.test import Client
from django.urls import Resolver404, get_resolver, resolve

from tests.support.crawler import Answer, crawl, patterns
from tests.support.rows.module_rows import shared
from tests.support.rows.roles import Cast, cast

pytestmark = pytest.mark.django_db
PRIVATE = {name for _, name in patterns(get_resolver("leaderboard.web_urls.people"))}
BOARD = "/benchmarks/tiny/test/"
STARTS = {
    "A": ["/me/submissions/", "/me/teams/", "/me/tokens/", "/me/notifications/", "/accounts/password/change/", BOARD],
    "curator": ["/manage/", BOARD],
    "staff": ["/admin/"],
}
SEEN = {
    "A": {"submit", "submission", "submission_state", "my_teams", "team", "my_tokens", "my_notices", "account_email"},
    "curator": {"manage", "manage_benchmark", "manage_split", "manage_gold_read", "manage_audit_trail"},
    "staff": {"index", "leaderboard_user_change"},
}

everybody, _django_db_helper = shared(cast)


def name_of(address: str) -> str:
    """Return the name of the URL pattern of an address; empty: there is none."""
    try:
        return resolve(address.partition("?")[0]).url_name or ""
    except Resolver404:
        return ""


def cache_control(answer: Answer) -> str:
    """Return the Cache-Control header of a crawled response, whose text begins with all headers."""
    headers: dict[str, str] = ast.literal_eval(answer.text.split(b"\n", 1)[0].decode())
    return headers.get("Cache-Control", "")


@pytest.mark.parametrize("role", STARTS)
def test_private_pages_are_not_stored(everybody: Cast, role: str) -> None:
    shown = set()
    for answer in crawl(everybody.client(role), STARTS[role]):
        name = name_of(answer.address)
        if name in PRIVATE or answer.address.startswith(("/accounts/", "/admin/")):
            header = cache_control(answer)
            assert "no-store" in header and "private" in header, (answer.address, answer.status, header)
            shown |= {name} if answer.status == 200 else set()
    assert SEEN[role] <= shown


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
