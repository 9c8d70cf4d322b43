"""Forms that are too large are refused by their Content-Length: the web server has not received their bodies."""

from __future__ import annotations

import io

import pytest
from django.test import Client

from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
UNREAD = {"wsgi.input": io.BytesIO(), "CONTENT_TYPE": "multipart/form-data; boundary=b"}


@pytest.mark.parametrize(("size", "status"), [("300000000", 413), ("201000001", 413), ("900000", 403)])
def test_a_form_of_a_user(size: str, status: int) -> None:
    """A small form is read, and this one has no CSRF token."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(person("ada"))
    response = client.post("/accounts/login/", CONTENT_LENGTH=size, **UNREAD)
    assert response.status_code == status
    assert (b"too large" in response.content) == (status == 413)


def test_a_file_of_nobody_leads_to_the_log_in_page() -> None:
    page = "/benchmarks/tiny/test/submit/"
    response = Client(enforce_csrf_checks=True).post(page, CONTENT_LENGTH="2000000", **UNREAD)
    assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={page}")


@pytest.mark.parametrize("size", ["", "x", "²", "-1"])
def test_a_malformed_length_is_no_error(size: str) -> None:
    assert Client(enforce_csrf_checks=True).post("/accounts/login/", CONTENT_LENGTH=size, **UNREAD).status_code == 403
