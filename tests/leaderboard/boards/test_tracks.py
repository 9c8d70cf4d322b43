"""In a phase with tracks every submission declares one: it is checked before anything is stored, and permanent."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.boards.actions import tracks
from leaderboard.containers.actions import image_uploads, images
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Image, ImageUpload, Phase, Submission, System
from leaderboard.submissions.actions import submit as submissions
from leaderboard.submissions.actions import validation
from tests.support.api_calls import footprint
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import World, build, uploaded
from tests.support.rows.track_phases import TRACKS, build_with_tracks
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
BAD = ["", "basic", "SIMPLE", "simple "]


@pytest.fixture
def world() -> World:
    return build_with_tracks()


def refusal(action: Any, **kwargs: Any) -> Refused:
    """The refusal of the action, which must store nothing."""
    before = footprint()
    with pytest.raises(Refused) as refusal_info:
        action(**kwargs)
    assert footprint() == before
    return refusal_info.value


@pytest.mark.parametrize("track", BAD)
def test_a_missing_or_unknown_track_is_refused_with_the_expected_ones(
    world: World, track: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation.sandbox_client, "validate", None)  # nothing may be read before
    refused = refusal(world.submit, track=track)
    assert refused.code is Code.INVALID_TRACK
    assert str(refused).endswith("expected one of simple, thorough.")


def test_a_phase_without_tracks_accepts_none() -> None:
    world = build()
    assert refusal(world.submit, track="simple").code is Code.INVALID_TRACK
    assert world.submit().track == ""


def test_a_systems_first_submission_fixes_its_track(world: World) -> None:
    assert world.submit(track="thorough").track == "thorough"
    refused = refusal(world.submit, track="simple")
    assert refused.code is Code.OTHER_TRACK
    assert 'in the track "thorough"' in str(refused)
    other = teams.find_system(team=world.system.team, name="Bernoulli, simple")
    assert world.submit(track="simple", system=other).track == "simple"
    assert world.submit(track="thorough").track == "thorough"


def test_without_the_early_check_it_is_refused_under_the_lock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "check_may_submit", lambda **_: (world.gold, timezone.now()))
    assert refusal(world.submit, track="").code is Code.INVALID_TRACK
    world.submit(track="simple")
    assert refusal(world.submit, track="thorough").code is Code.OTHER_TRACK


@pytest.mark.django_db(transaction=True)
def test_of_two_simultaneous_first_submissions_one_track_remains() -> None:
    world = build_with_tracks()

    def submit(track: str) -> str:
        try:
            return world.in_another_request().submit(track=track).track
        except Refused as refused:
            assert refused.code is Code.OTHER_TRACK
            return ""

    answers = together([lambda track=track: submit(track) for track in ("simple", "thorough") * 2])
    declared = set(Submission.objects.values_list("track", flat=True))
    assert len(declared) == 1
    assert sorted(answers) == sorted([*declared] * 2 + [""] * 2)


@pytest.mark.parametrize("track", BAD)
def test_images_are_refused_without_a_track(world: World, track: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "check_takes_images", lambda phase: None)
    monkeypatch.setattr(images.settings, "REGISTRIES", ["registry.example"])
    entry = world.entry(track=track)
    on = {"phase": world.phase, "entry": entry}
    begun = {"phase": world.phase, "by": world.researcher, "track": track}
    reference = f"registry.example/system@sha256:{'0' * 64}"
    with uploaded(b"an archive", "image.tar") as archive:
        for action, kwargs in (
            (image_uploads.begin, {"name": "image.tar", "size": 10, **begun}),
            (images.submit_archive, {"file": archive, **on}),
            (images.submit_reference, {"reference": reference, **on}),
            (images.submit, {"image": Image(reference=reference), **on}),
        ):
            assert refusal(action, **kwargs).code is Code.INVALID_TRACK
    assert not ImageUpload.objects.exists() and not Image.objects.exists()
    upload = image_uploads.begin(phase=world.phase, name="i.tar", size=3, by=world.researcher, track="simple")
    image_uploads.add(upload=upload, offset=0, chunk=b"abc")
    assert refusal(image_uploads.finish, upload=upload, entry=entry).code is Code.INVALID_TRACK
    assert image_uploads.finish(upload=upload, entry=world.entry(track="simple")).track


class TestChanging:
    def test_names_are_fixed_once_something_was_submitted(self, world: World) -> None:
        stand(world, "Somebody's", track="simple")
        simple, thorough = TRACKS
        for new_tracks in ([thorough], [], [{**simple, "name": "plain"}, thorough]):
            refused = refusal(tracks.change, phase=world.phase, new_tracks=new_tracks, by=world.curator)
            assert refused.code is Code.INVALID_TRACK
        added = [thorough, {**simple, "title": "Simple"}, {"name": "basic", "title": ""}]
        tracks.change(phase=world.phase, new_tracks=added, by=world.curator)
        stored = Phase.objects.get(pk=world.phase.pk).tracks
        assert [(track["name"], track["title"]) for track in stored] == [
            ("thorough", "THOROUGH"),
            ("simple", "Simple"),
            ("basic", "basic"),
        ]

    def test_a_phase_with_submissions_cannot_get_its_first_tracks(self) -> None:
        world = build()
        world.submit()
        refused = refusal(tracks.change, phase=world.phase, new_tracks=TRACKS, by=world.curator)
        assert refused.code is Code.INVALID_TRACK

    def test_before_the_first_submission_tracks_can_be_removed(self, world: World) -> None:
        tracks.change(phase=world.phase, new_tracks=[], by=world.curator)
        assert world.submit().track == ""

    def test_only_organisers_change_tracks(self, world: World) -> None:
        refused = refusal(tracks.change, phase=world.phase, new_tracks=TRACKS, by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER

    @pytest.mark.parametrize(
        ("new_tracks", "message"),
        [
            ([{"name": "Über", "title": "x"}], "the name of track 1 is 'Über', expected lower-case letters"),
            ([*TRACKS, TRACKS[0]], "the track simple is listed twice, expected each name once"),
            ([{"name": "x", "titel": "X"}], "track 1 has the key 'titel', expected name, title and description"),
            ([{"name": "x", "title": "X" * 201}], "the title of track 1 has 201 characters; expected text of at"),
        ],
    )
    def test_invalid_tracks_are_refused_with_a_reason(
        self, world: World, new_tracks: list[dict[str, str]], message: str
    ) -> None:
        refused = refusal(tracks.change, phase=world.phase, new_tracks=new_tracks, by=world.curator)
        assert message in str(refused)


def test_a_new_system_declares_its_track_too(world: World) -> None:
    new = teams.find_system(team=world.system.team, name="Newcomer")
    assert refusal(world.submit, system=new, track="").code is Code.INVALID_TRACK
    assert not System.objects.filter(name="Newcomer").exists()
    assert world.submit(system=new, track="simple").track == "simple"
