"""Forms in a charset that no browser sends give a bad request for every visitor and page, not a server error."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.support.api_calls import person
from tests.support.rows.tiny_world import build

pytestmark = pytest.mark.django_db
TOKEN = "a" * 32
CHARSETS = ["latin-1", "utf-16", "zip", "zlib"]
PLACES = ["/accounts/login/", "/accounts/signup/", "/manage/create/", "/"]


def visitor() -> Client:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies["csrftoken"] = TOKEN
    return client


def post(client: Client, path: str, charset: str) -> Any:
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    return client.generic("POST", path, f"csrfmiddlewaretoken={TOKEN}".encode(), kind)


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("path", PLACES)
def test_it_is_a_bad_request(path: str, charset: str) -> None:
    answer = post(visitor(), path, charset)
    assert answer.status_code == 400
    assert b"could not be understood" in answer.content


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("path", ["/nowhere/", "/metrics"])
def test_a_missing_page_is_a_404_in_any_charset(path: str, charset: str) -> None:
    assert post(visitor(), path, charset).status_code == 404


@pytest.mark.parametrize("charset", CHARSETS)
def test_the_api_answers_it_too(charset: str) -> None:
    assert post(visitor(), "/api/v1/submissions/", charset).status_code in {400, 401, 403}


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_signed_in_user_gets_a_page_with_working_forms(charset: str) -> None:
    build()
    client = visitor()
    client.force_login(person("somebody"))
    answer = post(client, "/manage/create/", charset)
    assert answer.status_code == 400
    assert b'name="csrfmiddlewaretoken"' in answer.content


def test_a_404_page_has_csrf_tokens_in_its_forms() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("somebody"))
    page = client.get("/nowhere/")
    assert page.status_code == 404 and client.cookies["csrftoken"].value
    token = page.content.decode().split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    assert client.post("/accounts/logout/", {"csrfmiddlewaretoken": token}).status_code == 302
