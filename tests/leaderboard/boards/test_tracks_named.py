"""The declared track on the pages of a system and of its team, and in what they take away; nothing without tracks."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Phase, Release, Run
from tests.support.board_rows import stand
from tests.support.tiny_world import World, build
from tests.support.track_phases import build_with_tracks

pytestmark = pytest.mark.django_db
NAMED = re.compile(r"track <bdi>([^<]*)</bdi>|<dt>Track</dt><dd><bdi>([^<]*)</bdi>")


@pytest.fixture
def world() -> World:
    return build_with_tracks()


@pytest.fixture
def release(world: World) -> Release:
    return stand(world, "Bernoulli", track="thorough")


def named(world: World, address: str) -> list[str]:
    """The tracks that a page names to a member of the team, in its order."""
    client = Client()
    client.force_login(world.researcher)
    answer = client.get(address)
    assert answer.status_code == 200
    return [one or other for one, other in NAMED.findall(answer.content.decode())]


def test_a_system_s_page_names_it_beside_boards_and_submissions(world: World, release: Release) -> None:
    address = reverse("system", args=[world.system.pk])
    assert named(world, address) == ["THOROUGH", "THOROUGH"]
    seen = Client().get(address).content.decode()
    assert NAMED.findall(seen) == [("THOROUGH", "")]


def test_my_submissions_name_it(world: World, release: Release) -> None:
    stand(world, "Other", track="simple")
    assert named(world, reverse("my_submissions")) == ["SIMPLE", "THOROUGH"]


def test_a_submission_s_page_and_receipt_name_it(world: World, release: Release) -> None:
    assert named(world, release.submission.get_absolute_url()) == ["THOROUGH", "THOROUGH"]


def test_the_receipt_that_is_taken_away_has_its_name(world: World, release: Release) -> None:
    Run.objects.filter(pk=release.run_id).update(provenance={"task_version": 1})
    client = Client()
    client.force_login(world.researcher)
    assert client.get(reverse("submission_receipt", args=[release.submission_id])).json()["track"] == "thorough"


def test_finals_name_it(world: World, release: Release) -> None:
    at = timezone.now()
    dates = {"closes_at": at, "sealed_until": at, "unsealed_at": at}
    Phase.objects.filter(pk=world.phase.pk).update(disclosure=Phase.Disclosure.SEALED, **dates)
    assert named(world, reverse("finals", args=["tiny", "test"])) == ["THOROUGH"]


def test_without_tracks_nothing_is_named() -> None:
    world = build()
    made = stand(world, "Bernoulli")
    pages = [reverse("system", args=[world.system.pk]), reverse("my_submissions"), made.submission.get_absolute_url()]
    assert [named(world, page) for page in pages] == [[], [], []]
