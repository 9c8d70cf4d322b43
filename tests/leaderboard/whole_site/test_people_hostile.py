"""Requests that no browser sends by itself: unusual verbs, fields and names. None may cause a server error."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.models import Prediction, Submission, System, Team
from tests.leaderboard.submissions.test_people_pages import SUBMIT, form, text
from tests.support.rows import tiny_world
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
HUGE = "9" * 40


world, _django_db_helper = shared_states(world=tiny_world.build)


@pytest.fixture
def ada(world: World) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(world.researcher)
    return client


@pytest.fixture
def curator(world: World) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(world.curator)
    return client


FIELDS: list[dict[str, Any]] = [
    {"system": HUGE, "new_system": ""},
    {"system": "-1", "new_system": ""},
    {"system": "1 OR 1=1", "new_system": ""},
    {"new_system": ""},
    {"new_system": " \t "},
    {"new_system": "a\0b"},
    {"new_system": "x" * 201},
    {"new_system": "right \u202eto left"},
    {"new_system": "\x1b[31mred"},
    {"new_system": "\u200d"},
    {"note": "n" * 301},
    {"note": "a\0b"},
    {"file": ""},
    {"file": "no file at all"},
]


@pytest.mark.parametrize("fields", FIELDS, ids="-".join)
def test_invalid_fields_are_refused_with_a_message(world: World, ada: Client, fields: dict[str, Any]) -> None:
    response = ada.post(SUBMIT, {**form(tiny_world.prediction_lines()), **fields})
    assert response.status_code == 422
    assert 'role="alert"' in text(response)
    assert not Submission.objects.exists()
    assert System.objects.count() == 1


BODIES = [
    ("multipart/form-data", b"--x\r\n"),
    ("multipart/form-data; boundary=" + "b" * 500, b"--x\r\n"),
    ("application/json", b'{"new_system": "x"}'),
    ("application/x-www-form-urlencoded", b"%ff%fe=%00&" * 10),
    ("text/plain", b"\xff\xfe"),
    ("", b"x"),
]


@pytest.mark.parametrize(("kind", "body"), BODIES, ids=[kind[:24] or "none" for kind, _ in BODIES])
def test_invalid_bodies_are_client_errors(world: World, ada: Client, kind: str, body: bytes) -> None:
    assert ada.post(SUBMIT, body, content_type=kind).status_code in (400, 422)


def test_too_many_fields_are_refused(world: World, ada: Client) -> None:
    assert ada.post(SUBMIT, {f"field{number}": "x" for number in range(2000)}).status_code == 400


NAMES = [
    "../../etc/passwd",
    "C:\\boot.ini",
    "a" * 300 + ".jsonl",
    '"; filename="evil.html',
    "\u202elnosj.exe",
    "<b>.html",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_unusual_file_names_are_stored(world: World, ada: Client, name: str) -> None:
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(), name=name))
    assert response.status_code in (302, 422)
    if response.status_code == 422:
        assert "characters" in text(response)
        return
    prediction = Prediction.objects.get()
    assert "/" not in prediction.name and "\\" not in prediction.name
    assert prediction.file.name.startswith("prediction/")
    assert ada.get(response["Location"]).status_code == 200
    download = ada.get(response["Location"] + "predictions/")
    assert download["Content-Disposition"].startswith("attachment; filename")
    assert download["Content-Type"] == "application/octet-stream"
    assert "\u202e" not in unquote(download["Content-Disposition"])


def test_a_name_in_any_script_is_stored_unchanged(world: World, ada: Client) -> None:
    response = ada.post(SUBMIT, form(tiny_world.prediction_lines(), new_system="Élan 白川 🪁", name="père 白川.jsonl"))
    page = text(ada.get(response["Location"]))
    assert "Élan 白川 🪁" in page
    assert "père 白川.jsonl" in page
    download = ada.get(response["Location"] + "predictions/")
    assert "père 白川.jsonl" in unquote(download["Content-Disposition"])


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", f"page={HUGE}", "page=%00"])
def test_invalid_page_numbers_give_the_nearest_page(world: World, ada: Client, query: str) -> None:
    world.insert_run()
    response = ada.get(f"/me/submissions/?{query}")
    assert response.status_code == 200
    assert "Bernoulli" in text(response)


@pytest.mark.parametrize(
    "address",
    [
        f"/manage/benchmarks/tiny/splits/test/gold/{HUGE}/",
        "/manage/benchmarks/tiny/splits/none/gold/",
        "/manage/benchmarks/none/",
        "/me/tokens/none/revoke/",
        "/submissions/00000000-0000-0000-0000-000000000000/",
    ],
)
def test_missing_objects_are_404(world: World, curator: Client, address: str) -> None:
    response = curator.post(address) if address.endswith("revoke/") else curator.get(address)
    assert response.status_code == 404


@pytest.mark.parametrize("name", ["", " ", "a\0b", "x" * 101, "\u202e", "\n", "\x1b[31mred", "\u200b\u200b"])
def test_invalid_team_names_are_refused(world: World, ada: Client, name: str) -> None:
    assert ada.post("/me/teams/", {"name": name}).status_code == 422
    assert Team.objects.count() == 1


@pytest.mark.parametrize(
    "field",
    [
        {"slug": "../x"},
        {"slug": "x" * 81},
        {"task": "none"},
        {"source_url": "javascript:alert(1)"},
        {"dataset": HUGE},
        {"title": "a\0b"},
    ],
    ids="-".join,
)
def test_invalid_benchmarks_are_refused(world: World, curator: Client, field: dict[str, str]) -> None:
    valid = {"title": "Sums", "slug": "sums", "task": tiny_world.TASK, "summary": "Claims about sums."}
    assert curator.post("/manage/create/", {**valid, **field}).status_code == 422


def test_a_taken_address_is_409(world: World, curator: Client) -> None:
    fields = {
        "title": "Tiny",
        "slug": "tiny",
        "task": tiny_world.TASK,
        "summary": "s",
        "dataset": world.split.dataset_id,
    }
    response = curator.post("/manage/create/", fields)
    assert response.status_code == 409
    assert "A benchmark with the short name tiny already exists; expected another short name." in text(response)
    response = curator.post("/manage/create/", {**fields, "dataset": ""})
    assert response.status_code == 409
    assert "A dataset with the short name tiny already exists; expected another short name." in text(response)


def test_fields_outside_the_form_are_ignored(world: World, ada: Client) -> None:
    more = {"kind": "baseline", "is_curator": "1", "received_at": "2020-01-01", "phase": "9", "submitted_by": "1"}
    ada.post(SUBMIT, form(tiny_world.prediction_lines(), **more))
    submission = Submission.objects.select_related("system").get()
    assert (submission.system.kind, submission.phase, submission.submitted_by) == (
        "participant",
        world.phase,
        world.researcher,
    )
    world.researcher.refresh_from_db()
    assert not world.researcher.is_curator


def test_a_second_file_field_is_ignored(world: World, ada: Client) -> None:
    two = [SimpleUploadedFile("a.jsonl", b"not json"), SimpleUploadedFile("b.jsonl", tiny_world.prediction_lines())]
    response = ada.post(SUBMIT, {**form(b""), "file": two})
    assert response.status_code == 302
    assert Prediction.objects.get().name == "b.jsonl"
