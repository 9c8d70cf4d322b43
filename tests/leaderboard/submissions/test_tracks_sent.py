"""Declaring a track in the forms, the API and the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from evaluator.cli.main import main
from leaderboard.accounts.actions import tokens
from leaderboard.containers.actions import images
from leaderboard.models import ImageUpload, Phase, Submission
from tests.support import tus_calls
from tests.support.api_calls import ROOT, SUBMIT, client_of, footprint, send
from tests.support.rows.tiny_world import TOLD_IN_FULL, World, build, prediction_lines
from tests.support.rows.track_phases import build_with_tracks

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
BAD = ["", "basic"]
EXPECTED = "expected one of simple, thorough."


@pytest.fixture
def world() -> World:
    return build_with_tracks()


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


@pytest.fixture
def browser(world: World) -> Client:
    client = Client()
    client.force_login(world.researcher)
    return client


@pytest.fixture
def engine(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "check_takes_images", lambda phase: None)


def refused_with(answer: Any) -> tuple[int, str]:
    body = answer.json()
    assert EXPECTED in body["message"]
    return answer.status_code, body["code"]


@pytest.mark.parametrize("track", BAD)
def test_the_api_refuses_a_file_without_its_track(ada: Client, track: str) -> None:
    before = footprint()
    assert refused_with(send(ada, prediction_lines(), track=track)) == (422, "invalid_track")
    raw = ada.post(f"{SUBMIT}?system=Bernoulli&track={track}", prediction_lines(), "application/x-ndjson")
    assert refused_with(raw) == (422, "invalid_track")
    assert footprint() == before


def test_the_api_returns_the_track(ada: Client) -> None:
    body = send(ada, prediction_lines(), track="simple").json()
    assert body["track"] == "simple"
    assert ada.get(f"{ROOT}/submissions/").json()["results"][0]["track"] == "simple"
    second_response = send(ada, prediction_lines(), track="thorough")
    assert (second_response.status_code, second_response.json()["code"]) == (409, "other_track")
    (phase,) = ada.get(f"{ROOT}/benchmarks/tiny/").json()["phases"]
    assert [track["name"] for track in phase["tracks"]] == ["simple", "thorough"]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("track", BAD)
def test_the_api_starts_and_completes_no_upload_without_a_track(world: World, ada: Client, track: str) -> None:
    start_url = reverse("api_image_uploads", args=["tiny", "test"])
    answer = tus_calls.create(ada, start_url, 3, track=track)
    assert refused_with(answer) == (422, "invalid_track")
    assert not ImageUpload.objects.exists()
    upload = tus_calls.create(ada, start_url, 3, track="simple").json()
    tus_calls.append(ada, upload, 0, b"abc")
    before = footprint()
    completion = ada.post(upload["submission"], json.dumps({"system": "New", "track": track}), "application/json")
    assert refused_with(completion) == (422, "invalid_track")
    assert footprint() == before
    completed = ada.post(upload["submission"], json.dumps({"system": "New", "track": "simple"}), "application/json")
    assert (completed.status_code, completed.json()["track"]) == (201, "simple")


@pytest.mark.parametrize("page", ["submit", "submit_image"])
@pytest.mark.parametrize("track", BAD)
@pytest.mark.usefixtures("engine")
def test_the_forms_show_the_refusal_next_to_the_field(browser: Client, page: str, track: str) -> None:
    before = footprint()
    file = SimpleUploadedFile("predictions.jsonl", prediction_lines())
    answer = browser.post(reverse(page, args=["tiny", "test"]), {"new_system": "Mine", "track": track, "file": file})
    assert answer.status_code == 422
    assert "expected one of SIMPLE, THOROUGH." in str(answer.context["form"].errors["track"])
    assert footprint() == before


def test_the_form_lists_the_tracks_and_accepts_one(browser: Client) -> None:
    address = reverse("submit", args=["tiny", "test"])
    offered = re.findall(r'type="radio" name="track" value="(\w+)"', browser.get(address).content.decode())
    assert offered == ["simple", "thorough"]
    file = SimpleUploadedFile("predictions.jsonl", prediction_lines())
    answer = browser.post(address, {"new_system": "Mine", "track": "thorough", "file": file}, follow=True)
    assert Submission.objects.get().track == "thorough"
    assert "THOROUGH" in answer.content.decode()


def test_without_tracks_there_is_no_field() -> None:
    client = Client()
    client.force_login(build().researcher)
    assert 'name="track"' not in client.get(reverse("submit", args=["tiny", "test"])).content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_command_declares_it(
    live_server: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = build_with_tracks()
    monkeypatch.chdir(tmp_path)
    Path("token").write_text(tokens.issue(by=world.researcher)[1])
    Path("predictions.jsonl").write_bytes(prediction_lines())
    arguments = ["submit", "predictions.jsonl", "--server", live_server.url, "--token-file", "token"]
    arguments += ["--benchmark", "tiny", "--phase", "test", "--system", "Bernoulli"]
    assert main(arguments) != 0
    assert EXPECTED in capsys.readouterr().err
    assert not Submission.objects.exists()
    assert main([*arguments, "--track", "simple"]) == 0
    assert Submission.objects.get().track == "simple"


def test_organisers_set_tracks_on_their_pages() -> None:
    world = build()
    client = Client()
    client.force_login(world.curator)
    address = reverse("manage_tracks", args=["tiny", "test"])
    typed = "simple | SIMPLE | nothing, but the asked | ones\n\nthorough | THOROUGH"
    assert client.post(address, {"tracks": typed}).status_code == 302
    expected = [("simple", "SIMPLE", "nothing, but the asked | ones"), ("thorough", "THOROUGH", "")]
    stored = Phase.objects.get().tracks
    assert [(track["name"], track["title"], track["description"]) for track in stored] == expected
    assert typed.replace("\n\n", "\n") in client.get(address).content.decode()
    bad = client.post(address, {"tracks": "simple"})
    assert bad.status_code == 422 and "expected NAME | TITLE | DESCRIPTION." in bad.content.decode()
    world.submit(track="simple", phase=Phase.objects.get())
    removal = client.post(address, {"tracks": "thorough | THOROUGH"})
    assert removal.status_code == 422 and "expected all existing names" in removal.content.decode()


def test_a_new_phase_is_created_with_tracks() -> None:
    world = build()
    client = Client()
    client.force_login(world.curator)
    fields = {"title": "Final", "slug": "final", "split": world.split.pk, "quota_per_day": 5, "quota_total": 9}
    posted = {**fields, **TOLD_IN_FULL, "takes_predictions": "on", "tracks": "one | One"}
    assert client.post(reverse("manage_phase_create", args=["tiny"]), posted).status_code == 302
    assert Phase.objects.get(slug="final").tracks == [{"name": "one", "title": "One", "description": ""}]
