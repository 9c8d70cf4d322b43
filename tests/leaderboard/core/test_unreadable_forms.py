"""Forms in a charset that no browser sends: a bad request, whoever asks for whatever, and no fault of the server."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.support.api_calls import person
from tests.support.tiny_world import build

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
def test_what_is_not_there_is_not_there_in_any_charset(path: str, charset: str) -> None:
    assert post(visitor(), path, charset).status_code == 404


@pytest.mark.parametrize("charset", CHARSETS)
def test_the_api_answers_it_too(charset: str) -> None:
    assert post(visitor(), "/api/v1/submissions/", charset).status_code in {400, 401, 403}


@pytest.mark.parametrize("charset", CHARSETS)
def test_who_is_signed_in_gets_a_page_whose_forms_work(charset: str) -> None:
    build()
    client = visitor()
    client.force_login(person("somebody"))
    answer = post(client, "/manage/create/", charset)
    assert answer.status_code == 400
    assert b'name="csrfmiddlewaretoken"' in answer.content


def test_a_page_that_is_not_there_gives_its_forms_a_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("somebody"))
    page = client.get("/nowhere/")
    assert page.status_code == 404 and client.cookies["csrftoken"].value
    token = page.content.decode().split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    assert client.post("/accounts/logout/", {"csrfmiddlewaretoken": token}).status_code == 302
