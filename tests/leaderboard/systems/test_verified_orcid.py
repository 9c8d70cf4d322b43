"""A verified ORCID iD: on the pages of its owner, their teams and systems, and only with the owner's consent."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import profiles
from leaderboard.models import Membership, Profile, System, User
from tests.support.api_calls import person
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
ORCID_ID = "0000-0002-1825-0097"
LINK = f'href="https://orcid.org/{ORCID_ID}"'


@pytest.fixture
def world() -> World:
    world = build()
    stand(world, "Engine")
    return world


def link(user: User) -> SocialAccount:
    return SocialAccount.objects.create(user=user, provider="orcid", uid=ORCID_ID)


def text_of(address: str, client: Client | None = None) -> str:
    return (client or Client()).get(address).content.decode()


def pages(world: World) -> list[str]:
    engine = System.objects.get(name="Engine")
    return [f"/people/{world.researcher.pk}/", f"/teams/{engine.team_id}/", f"/systems/{engine.pk}/"]


def test_it_is_shown_only_with_consent(world: World) -> None:
    ada = Client()
    ada.force_login(world.researcher)
    linked = link(world.researcher)
    for is_public, show in ((False, False), (True, False), (False, True), (True, True)):
        sent = {"name": "Ada Byron", **({"is_public": "on"} if is_public else {}), **({"orcid": "on"} if show else {})}
        assert ada.post("/me/profile/", sent).status_code == 302
        for page in pages(world):
            assert (LINK in text_of(page)) is (is_public and show), (page, is_public, show)
            assert (ORCID_ID in text_of(page)) is (is_public and show)
    assert "checked" in text_of("/me/profile/", ada).partition(f"Show my ORCID iD, {ORCID_ID}")[0][-200:]
    linked.delete()
    person_page, team, system = map(text_of, pages(world))
    assert "not verified" in person_page and LINK not in person_page + team + system


def test_an_id_that_somebody_else_has_linked_is_not_verified(world: World) -> None:
    link(person("owner"))
    profiles.update(by=world.researcher, is_public=True, name="Ada Byron", orcid=ORCID_ID)
    person_page, team, system = map(text_of, pages(world))
    assert "not verified" in person_page and LINK not in person_page + team + system


def test_an_anonymous_system_does_not_name_its_people(world: World) -> None:
    link(world.researcher)
    profiles.update(by=world.researcher, is_public=True, name="Ada Byron", orcid=ORCID_ID)
    System.objects.filter(name="Engine").update(anonymous_until=timezone.now() + timedelta(days=1), anonymous_number=1)
    for page in pages(world)[1:]:
        assert ORCID_ID not in text_of(page) and "Ada Byron" not in text_of(page)
    assert Profile.objects.exists() and Membership.objects.exists()
