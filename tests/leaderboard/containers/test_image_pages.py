"""The page for submitting an image: accepted and refused input, its texts, and unfinished uploads."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.containers.actions import image_uploads
from leaderboard.models import Image, ImageUpload, QuotaCharge, State, Submission, User, WorkerReport
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows import tiny_world
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.tiny_world import World
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
PAGE = "/benchmarks/tiny/test/submit-image/"
FILES = "/benchmarks/tiny/test/submit/"
HOSTILE = '"><script>alert(1)</script>\u202egnp.tar'


@pytest.fixture
def world() -> World:
    new_world = tiny_world.build()
    takes_images(new_world)
    engine_is_there()
    return new_world


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.researcher)
    return client


def archive(content: bytes = b"an archive", **fields: Any) -> dict[str, Any]:
    return {"new_system": "Pascaline", "note": "", "file": SimpleUploadedFile("mine.tar", content), **fields}


def started(world: World, content: bytes = b"", size: int = 10, **changes: Any) -> ImageUpload:
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="mine.tar", size=size, **changes)
    if content:
        image_uploads.add(upload=upload, offset=0, chunk=content)
    return upload


# --- submitting


def test_an_archive_in_one_piece_is_accepted_charged_and_queued(world: World, ada: Client) -> None:
    response = ada.post(PAGE, archive(note="seed 3"))
    submission = Submission.objects.get()
    assert response["Location"] == submission.get_absolute_url()
    assert (submission.kind, submission.note, submission.system.name) == ("image", "seed 3", "Pascaline")
    assert submission.image is not None
    assert submission.image.archive.read() == b"an archive"
    assert submission.predictions.get().state == State.QUEUED
    assert QuotaCharge.objects.filter(submission=submission, refunded_at=None).count() == 1


def test_a_complete_upload_is_submitted_by_its_name(world: World, ada: Client) -> None:
    upload = started(world, b"an archive")
    page = text(ada.get(f"{PAGE}?upload={upload.pk}"))
    assert "is completely uploaded" in page
    assert 'type="file"' not in page
    response = ada.post(PAGE, {"new_system": "Pascaline", "upload": str(upload.pk)})
    submission = Submission.objects.get()
    assert response["Location"] == submission.get_absolute_url()
    assert submission.image is not None
    assert submission.image.archive.read() == b"an archive"
    assert not ImageUpload.objects.exists()


def test_an_incomplete_upload_is_refused_and_retained(world: World, ada: Client) -> None:
    upload = started(world, b"an ar")
    response = ada.post(PAGE, {"new_system": "Pascaline", "upload": str(upload.pk)})
    assert response.status_code == 409
    assert "send the rest first" in text(response)
    assert ImageUpload.objects.get().received == 5
    assert not Submission.objects.exists()


def test_another_persons_upload_cannot_be_submitted(world: World, ada: Client) -> None:
    bob = User.objects.create_user("bob", "bob@holdout.example", "correct horse")
    upload = image_uploads.begin(phase=world.phase, by=bob, name="secret-name.tar", size=5)
    image_uploads.add(upload=upload, offset=0, chunk=b"bytes")
    response = ada.post(PAGE, {"new_system": "Pascaline", "upload": str(upload.pk)})
    assert response.status_code == 422
    assert not Submission.objects.exists()
    assert "secret-name" not in text(response)
    assert "secret-name" not in text(ada.get(f"{PAGE}?upload={upload.pk}"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"new_system": "P"}, "Choose the archive of your image"),
        (
            {"new_system": "", "file": SimpleUploadedFile("a.tar", b"x")},
            "No system is given; choose one of yours, or enter a new name.",
        ),
        ({"new_system": "P", "upload": "no-uuid"}, "upload"),
    ],
)
def test_missing_fields_are_reported(world: World, ada: Client, fields: dict[str, Any], message: str) -> None:
    response = ada.post(PAGE, fields)
    assert response.status_code == 422
    assert message in text(response)
    assert not Submission.objects.exists()


def test_an_archive_over_the_phases_limit_is_not_stored(world: World, ada: Client) -> None:
    takes_images(world, limits={"image_bytes": 9})
    response = ada.post(PAGE, archive())
    assert response.status_code == 413
    assert "The archive has 10 bytes; expected 1 to 9" in text(response)
    assert not Image.objects.exists()
    assert not QuotaCharge.objects.exists()


def test_a_used_up_quota_is_429_with_retry_after(world: World, ada: Client) -> None:
    takes_images(world, quota_per_day=1)
    assert ada.post(PAGE, archive()).status_code == 302
    response = ada.post(PAGE, archive(b"another"))
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 86_401
    assert Image.objects.count() == 1
    assert "<form method" not in text(ada.get(PAGE)).split("two-columns")[1].split("Requirements for the image")[0]


# --- references


def test_the_page_names_the_container_runtime_of_the_workers(world: World, ada: Client) -> None:
    WorkerReport.objects.update(detail={})
    assert "It runs on" not in text(ada.get(PAGE))
    WorkerReport.objects.update(detail={"runtime": "runsc"})
    response = ada.get(PAGE)
    assert "It runs on <code>runsc</code>." in text(response) and 'href="/docs/systems/"' in response.content.decode()


def test_references_are_offered_only_where_a_registry_is_allowed(world: World, ada: Client, settings: Any) -> None:
    assert "in a registry" not in text(ada.get(PAGE))
    settings.REGISTRIES = ["registry.holdout.example"]
    assert "from registry.holdout.example" in text(ada.get(PAGE))
    name = "registry.holdout.example/mine@sha256:" + "a" * 64
    response = ada.post(PAGE, {"new_system": "Pascaline", "reference": name})
    assert response["Location"] == Submission.objects.get().get_absolute_url()
    assert Image.objects.get().reference == name
    elsewhere = ada.post(PAGE, {"new_system": "Pascaline", "reference": name.replace("holdout", "evil")})
    assert elsewhere.status_code == 422
    assert "The reference of the image cannot be used" in text(elsewhere)
    both = ada.post(PAGE, archive(reference=name))
    assert "not both" in text(both)


# --- which form for which phase


def test_a_phase_that_takes_both_has_tabs_between_the_forms(world: World, ada: Client) -> None:
    for address, other in ((PAGE, FILES), (FILES, PAGE)):
        page = text(ada.get(address))
        assert f'href="{address}" aria-current="page"' in page
        assert f'href="{other}"' in page


@pytest.mark.parametrize(
    ("accepted", "requested", "led", "message"),
    [
        ("images", FILES, PAGE, "accepts container images, not predictions files"),
        ("predictions", PAGE, FILES, "accepts predictions files, not container images"),
    ],
)
def test_a_phase_that_takes_one_leads_to_its_form(
    world: World, ada: Client, accepted: str, requested: str, led: str, message: str
) -> None:
    takes_images(world, takes_images=accepted == "images", takes_predictions=accepted == "predictions")
    response = ada.get(requested)
    assert response["Location"] == led
    page = text(ada.get(led))
    assert message in page
    assert "Kind of submission" not in page


def test_a_file_in_a_phase_for_images_only_is_refused(world: World, ada: Client) -> None:
    takes_images(world, takes_predictions=False)
    data = {"new_system": "P", "file": SimpleUploadedFile("p.jsonl", tiny_world.prediction_lines())}
    assert ada.post(FILES, data).status_code == 409
    takes_images(world, takes_predictions=True, takes_images=False)
    refused = ada.post(PAGE, archive())
    assert refused.status_code == 409
    assert "This phase does not accept this" in text(refused)
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("report", "setting", "message"),
    [
        (None, True, "No worker with a container engine has reported"),
        ({"ready": False, "message": "The engine does not answer <b>: start dockerd."}, True, "start dockerd"),
        ({}, False, "switched off on this server"),
    ],
)
def test_without_an_engine_the_page_says_why_and_shows_no_form(
    world: World, ada: Client, settings: Any, report: dict[str, Any] | None, setting: bool, message: str
) -> None:
    settings.SYSTEMS = setting
    WorkerReport.objects.all().delete()
    if report is not None:
        engine_is_there(**report)
    page = text(ada.get(PAGE))
    assert message in page
    assert "data-image-upload" not in page
    assert "<b>" not in page.split("<main")[1].replace("<bdi>", "")
    assert "Predictions files</a> are still accepted" in page
    answer = ada.post(PAGE, archive())
    assert answer.status_code == 503
    assert "Containers cannot run now" in text(answer)
    assert not Image.objects.exists()


# --- texts of the page


def test_the_limits_of_the_phase_are_shown(world: World, ada: Client) -> None:
    page = text(ada.get(PAGE))
    assert "600 s (10 min)" in page and "4 GB" in page and "10 GB" in page
    takes_images(world, limits={"wall_seconds": 90, "memory_bytes": 1_500_000_000, "cpus": 0.5})
    page = text(ada.get(PAGE))
    assert "90 s" in page and "1.5 GB" in page and "<dd>0.5" in page
    assert "there is no network" in page
    assert "at most 200 MB" in page


def test_the_page_is_well_formed_with_uploads_and_a_hostile_name(world: World, ada: Client) -> None:
    upload = started(world, b"an ar")
    ImageUpload.objects.update(name=HOSTILE)
    for address in (PAGE, f"{PAGE}?upload={upload.pk}", f"{PAGE}?upload=%22%3E%3Cscript%3E"):
        page = ada.get(address).content.decode()
        assert read(page).faults == []
        assert "<script>alert" not in page


def test_unfinished_uploads_are_resumed_or_discarded(world: World, ada: Client) -> None:
    upload = started(world, b"an ar")
    page = text(ada.get(PAGE))
    assert "Unfinished uploads" in page and f"?upload={upload.pk}" in page
    upload_page = text(ada.get(f"{PAGE}?upload={upload.pk}"))
    assert "Choose the same file again" in upload_page
    assert f'data-upload="/api/v1/image-uploads/{upload.pk}/" data-bytes="10"' in upload_page
    pieces, storage = list(ImageUpload.objects.get().pieces), Image._meta.get_field("archive").storage
    assert [storage.exists(name) for name in pieces] == [True]
    response = ada.post(f"/me/image-uploads/{upload.pk}/give-up/")
    assert response["Location"] == PAGE
    assert not ImageUpload.objects.exists()
    assert [storage.exists(name) for name in pieces] == [False]


def test_the_page_takes_a_constant_number_of_queries(
    world: World, ada: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(image_uploads.AT_ONCE):
        started(world)
    ada.get(PAGE)
    with django_assert_max_num_queries(19):  # one counts the answers in detail that the team has had
        ada.get(PAGE)


# --- other places that show what a phase accepts


def phase_by_api() -> dict[str, Any]:
    phase: dict[str, Any] = Client().get("/api/v1/benchmarks/tiny/").json()["phases"][0]
    return phase


def test_the_benchmark_page_and_the_api_show_what_a_phase_accepts(world: World) -> None:
    takes_images(world, limits={"wall_seconds": 90})
    page = text(Client().get("/benchmarks/tiny/about/submit/"))
    assert f'href="{PAGE}">images</a>' in page and f'href="{FILES}">files</a>' in page
    assert "Limits of containers in" in page and "90 s" in page
    assert phase_by_api()["images_run"] is True
    WorkerReport.objects.update(ready=False)
    assert phase_by_api()["images_run"] is False
    phase = phase_by_api()
    assert (phase["takes_predictions"], phase["takes_images"], phase["shows_logs"]) == (True, True, True)
    assert (phase["limits"]["wall_seconds"], phase["limits"]["memory_bytes"]) == (90, 4_000_000_000)
    assert phase["images"].endswith("/api/v1/benchmarks/tiny/phases/test/image-uploads/")
    takes_images(world, takes_images=False)
    assert Client().get("/api/v1/benchmarks/tiny/").json()["phases"][0]["limits"] is None
    assert PAGE not in text(Client().get("/benchmarks/tiny/about/submit/"))
