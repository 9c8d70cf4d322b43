"""The pages About and Contact, and the links to them in the footer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from evaluator import __version__
from leaderboard.core.web.site_pages import link_of
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db


def page(address: str) -> str:
    response = Client().get(address)
    assert response.status_code == 200
    text = response.content.decode()
    assert read(text).faults == []
    return text


def test_the_footer_leads_to_every_page_about_the_site() -> None:
    footer = page("/").partition("<footer")[2]
    links = re.findall(r'href="(/[^"]*)"', footer)
    assert {"/about/", "/contact/", "/status/", "/docs/", "/docs/terms/", "/docs/privacy/"} <= set(links)
    assert all(Client().get(link).status_code == 200 for link in links)
    assert f"Version {__version__}" in footer and "Apache License 2.0" in footer


def test_about_states_version_and_licence() -> None:
    text = page("/about/")
    assert f"Holdout {__version__}" in text and "Apache License 2.0" in text


@pytest.mark.parametrize(
    ("contact", "shown"),
    [
        ("help@lab.example", '<a href="mailto:help@lab.example"><bdi>help@lab.example</bdi></a>'),
        ("https://lab.example/help", '<a href="https://lab.example/help"><bdi>https://lab.example/help</bdi></a>'),
        ("javascript:alert(1)", "<bdi>javascript:alert(1)</bdi>"),
        ("", "has not published an address"),
    ],
)
def test_contact_shows_the_operators_address(settings: Any, contact: str, shown: str) -> None:
    settings.CONTACT = contact
    assert shown in page("/contact/")


def test_only_web_and_mail_addresses_become_links() -> None:
    assert [link_of(text) for text in ("+49 30 1234", "a@b", "data:text/html,x")] == ["", "", ""]


def test_sign_up_links_terms_and_privacy() -> None:
    form = page("/accounts/signup/").partition("<main")[2].partition("</main>")[0]
    assert 'href="/docs/terms/"' in form and 'href="/docs/privacy/"' in form
