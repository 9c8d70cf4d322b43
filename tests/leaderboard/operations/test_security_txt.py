"""`/.well-known/security.txt`, as RFC 9116 prescribes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

ADDRESS = "/.well-known/security.txt"


@pytest.mark.parametrize(
    ("contact", "expected"),
    [
        ("https://site.example/report", "https://site.example/report"),
        ("owner@site.example", "mailto:owner@site.example"),
    ],
)
def test_the_contact_is_named(client: Client, settings: Any, contact: str, expected: str) -> None:
    settings.CONTACT = contact
    response = client.get(ADDRESS)
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    assert (fields["Contact"], fields["Canonical"]) == (expected, settings.BASE_URL + ADDRESS)
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)


# RFC 9116 demands https for web addresses; a telephone number would need tel:.
@pytest.mark.parametrize("contact", ["", "http://site.example/", "0123 456"])
def test_without_a_contact_there_is_none(client: Client, settings: Any, contact: str, db: None) -> None:
    settings.CONTACT = contact
    assert client.get(ADDRESS).status_code == 404
