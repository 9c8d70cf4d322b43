"""The declared track on pages of a system and of its team, and in their exports; not mentioned without tracks."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Phase, Release, Run
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import World, build
from tests.support.rows.track_phases import build_with_tracks

pytestmark = pytest.mark.django_db
NAMED = re.compile(r"track <bdi>([^<]*)</bdi>|<dt>Track</dt><dd><bdi>([^<]*)</bdi>")


@pytest.fixture
def world() -> World:
    return build_with_tracks()


@pytest.fixture
def release(world: World) -> Release:
    return stand(world, "Bernoulli", track="thorough")


def tracks_named(world: World, address: str) -> list[str]:
    """Tracks that a page names to a member of the team, in order."""
    client = Client()
    client.force_login(world.researcher)
    answer = client.get(address)
    assert answer.status_code == 200
    return [track or other for track, other in NAMED.findall(answer.content.decode())]


def test_a_systems_page_names_the_track_with_boards_and_submissions(world: World, release: Release) -> None:
    address = reverse("system", args=[world.system.pk])
    assert tracks_named(world, address) == ["THOROUGH", "THOROUGH"]
    markup = Client().get(address).content.decode()
    assert NAMED.findall(markup) == [("THOROUGH", "")]


def test_my_submissions_name_it(world: World, release: Release) -> None:
    stand(world, "Other", track="simple")
    assert tracks_named(world, reverse("my_submissions")) == ["SIMPLE", "THOROUGH"]


def test_a_submissions_page_and_receipt_name_it(world: World, release: Release) -> None:
    assert tracks_named(world, release.submission.get_absolute_url()) == ["THOROUGH", "THOROUGH"]


def test_the_downloaded_receipt_has_its_name(world: World, release: Release) -> None:
    Run.objects.filter(pk=release.run_id).update(provenance={"task_version": 1})
    client = Client()
    client.force_login(world.researcher)
    assert client.get(reverse("submission_receipt", args=[release.submission_id])).json()["track"] == "thorough"


def test_final_submissions_name_it(world: World, release: Release) -> None:
    at = timezone.now()
    dates = {"closes_at": at, "sealed_until": at, "unsealed_at": at}
    Phase.objects.filter(pk=world.phase.pk).update(disclosure=Phase.Disclosure.SEALED, **dates)
    assert tracks_named(world, reverse("finals", args=["tiny", "test"])) == ["THOROUGH"]


def test_without_tracks_none_is_named() -> None:
    world = build()
    submission = stand(world, "Bernoulli")
    pages = [
        reverse("system", args=[world.system.pk]),
        reverse("my_submissions"),
        submission.submission.get_absolute_url(),
    ]
    assert [tracks_named(world, page) for page in pages] == [[], [], []]
