"""Addresses of earlier releases redirect to the present ones."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import resolve, reverse

from leaderboard.web_urls.moved import MOVED

pytestmark = pytest.mark.django_db
PARAMETER = re.compile(r"<(\w+):(\w+)>")
EXAMPLES = {"int": "7", "slug": "name-7", "path": "origin/label"}


@pytest.mark.parametrize(("route", "name"), MOVED.items())
def test_a_former_address_redirects_with_its_query(route: str, name: str) -> None:
    former = "/" + PARAMETER.sub(lambda match: EXAMPLES[match[1]], route)
    present = reverse(name, kwargs={match[2]: EXAMPLES[match[1]] for match in PARAMETER.finditer(route)})
    assert former != present and resolve(present).url_name == name
    for method in ("get", "head"):
        response = getattr(Client(), method)(f"{former}?download=csv&page=2")
        assert (response.status_code, response["Location"]) == (301, f"{present}?download=csv&page=2")
    assert Client().post(former).status_code == 405
