"""Pages of the settings: valid HTML, and one menu with the present page marked, to which the masthead leads."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.accounts.actions import teams
from tests.support import strict_html
from tests.support.api_calls import person

pytestmark = pytest.mark.django_db
MENU = [
    "/me/settings/",
    "/accounts/email/",
    "/accounts/password/change/",
    "/accounts/2fa/",
    "/accounts/3rdparty/",
    "/me/notifications/",
    "/me/tokens/",
]


def test_each_page_has_the_menu_and_marks_itself() -> None:
    browser = Client()
    browser.force_login(person("ada"))
    for address in MENU:
        page = browser.get(address, follow=True).content.decode()
        assert 'href="/me/settings/"' in page.split("<main")[0]
        menu = page.split('class="settings-menu"')[1].split("</nav>")[0]
        assert [entry in menu for entry in MENU] == [True] * len(MENU)
        assert f'href="{address}" aria-current="page"' in menu and menu.count("aria-current") == 1


@pytest.mark.parametrize("sends_mail", [True, False])
def test_the_html_of_the_pages_is_valid(settings, sends_mail: bool) -> None:
    settings.SENDS_MAIL = sends_mail
    browser, ada = Client(), person("ada")
    browser.force_login(ada)
    team = teams.create(name="Engines", by=ada)
    browser.post("/me/tokens/", {"name": "job", "scope": "read", "days": "30"})
    own = [
        *MENU,
        "/accounts/2fa/totp/activate/",
        "/me/delete/",
        "/me/teams/",
        f"/me/teams/{team.pk}/",
        f"/me/teams/{team.pk}/rename/",
    ]
    for address in own:
        page = browser.get(address, follow=True).content.decode()
        strict_html.read(page)
        assert "placeholder" not in page, f"{address}: its labels say all"
    for name in ("login", "signup", "password/reset", "password/reset/done", "confirm-email", "inactive"):
        page = Client().get(f"/accounts/{name}/", follow=True).content.decode()
        strict_html.read(page)
        assert "placeholder" not in page, name
