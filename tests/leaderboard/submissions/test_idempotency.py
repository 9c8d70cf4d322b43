"""Idempotency keys: a repeated request gets the first one's submission, and is charged nothing."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.containers.actions import image_uploads
from leaderboard.models import ImageUpload, Phase, QuotaCharge, Submission, WorkerReport
from leaderboard.submissions.actions import idempotency
from tests.support.api_calls import ROOT, SUBMIT, client_of, error_of, footprint, person
from tests.support.rows.tiny_world import LABELS, World, build, prediction_lines
from tests.support.simultaneous_calls import together

PAGE = "/benchmarks/tiny/test/submit/"
REFERENCE = "registry.example/negation@sha256:" + "a" * 64
OTHER_LINES = prediction_lines({**LABELS, "a1": "REFUTES"})
pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db: None, sandbox: str) -> World:
    world = build()
    Phase.objects.update(takes_images=True)
    world.phase.refresh_from_db()
    WorkerReport.objects.create(queue="systems", host="there", ready=True, seen_at=timezone.now())
    return world


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


def keyed(client: Client, key: str, **fields: Any) -> Any:
    file = SimpleUploadedFile("predictions.jsonl", fields.pop("content", prediction_lines()))
    return client.post(SUBMIT, {"system": "Bernoulli", "file": file, **fields}, headers={"Idempotency-Key": key})


def refer(client: Client, **fields: str) -> Any:
    """Submit an image in a registry with the key "one"."""
    described = {"system": "Bernoulli", "reference": REFERENCE, **fields}
    address = f"{ROOT}/benchmarks/tiny/phases/test/images/references/"
    return client.post(address, described, content_type="application/json", headers={"Idempotency-Key": "one"})


def test_a_repeated_request_gets_the_first_submission(world: World, ada: Client) -> None:
    first = keyed(ada, "one")
    before = footprint()
    Phase.objects.update(closes_at=timezone.now())  # the answer to the first request was lost, and the phase closed
    again = keyed(ada, '"one"')  # as a structured header field
    assert (first.status_code, again.status_code) == (201, 201), again.content
    assert again.json()["id"] == first.json()["id"] and again["Location"] == first["Location"]
    assert footprint() == before
    raw = ada.post(
        f"{SUBMIT}?system=Bernoulli",
        prediction_lines(),
        content_type="application/x-ndjson",
        headers={"Idempotency-Key": "one"},
    )
    assert (raw.status_code, raw.json()["id"]) == (201, first.json()["id"])


@pytest.mark.parametrize(
    "other", [{"content": OTHER_LINES}, {"system": "Other"}, {"note": "other"}], ids=["file", "system", "note"]
)
def test_a_key_of_another_content_is_refused(world: World, ada: Client, other: dict[str, Any]) -> None:
    first = keyed(ada, "one").json()["id"]
    before = footprint()
    refused = keyed(ada, "one", **other)
    assert (refused.status_code, error_of(refused)["code"]) == (422, "idempotency_key_reused")
    assert first in error_of(refused)["message"] and footprint() == before
    assert keyed(ada, "two", **other).status_code == 201


def test_a_refused_request_leaves_its_key_unused(world: World, ada: Client) -> None:
    assert keyed(ada, "one", content=b"{}\n").status_code == 422
    assert keyed(ada, "one").status_code == 201


@pytest.mark.parametrize("key", ["x" * 256, "a b", "ü"])
def test_a_malformed_key_is_refused(ada: Client, key: str) -> None:
    refused = keyed(ada, key)
    assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid_idempotency_key")
    assert Submission.objects.count() == 0


def test_a_key_belongs_to_its_user(world: World, ada: Client) -> None:
    other = client_of(person("grace"))
    assert keyed(ada, "one").json()["id"] != keyed(other, "one", system="Compiler").json()["id"]
    assert Submission.objects.count() == 2


@pytest.mark.parametrize(("kind", "n_checks"), [("file", 2), ("image", 3)])
def test_a_key_that_is_stored_at_the_same_time(
    world: World, ada: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, kind: str, n_checks: int
) -> None:
    """For another split, whose lock does not wait: the checks before the row is stored do not find the key."""
    settings.REGISTRIES = ["registry.example"]
    send = {"file": lambda **fields: keyed(ada, "one", **fields), "image": lambda **fields: refer(ada, **fields)}[kind]
    first = send().json()["id"]
    before, check, passed = footprint(), idempotency.check_unused, []

    def late(*key_and_user: Any) -> None:
        passed.append(key_and_user)
        if len(passed) > n_checks:
            check(*key_and_user)

    monkeypatch.setattr(idempotency, "check_unused", late)
    assert send().json()["id"] == first and len(passed) == n_checks + 1
    passed.clear()
    assert error_of(send(system="Other"))["code"] == "idempotency_key_reused" and len(passed) == n_checks + 1
    assert footprint() == before


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_with_one_key_make_one_submission(transactional_db: None, sandbox: str) -> None:
    world = build()
    clients = [client_of(world.researcher) for _ in range(4)]
    answers = together([lambda client=client: keyed(client, "one") for client in clients])
    assert {(answer.status_code, answer.json().get("id")) for answer in answers} == {
        (201, str(Submission.objects.get().pk))
    }
    assert QuotaCharge.objects.count() == 1


def test_a_form_sent_twice_makes_one_submission(world: World) -> None:
    client = Client()
    client.force_login(world.researcher)
    page = client.get(PAGE).content.decode()
    match = re.search(r'name="once" value="([0-9a-f-]{36})"', page)
    assert match, page
    once = match[1]

    def post(content: bytes = prediction_lines(), **fields: Any) -> Any:
        file = SimpleUploadedFile("p.jsonl", content)
        return client.post(PAGE, {"once": once, "system": world.system.pk, "note": "", "file": file, **fields})

    first, again = post(), post()
    submission = Submission.objects.get()
    assert [(answer.status_code, answer["Location"]) for answer in (first, again)] == [
        (302, submission.get_absolute_url())
    ] * 2
    # Somebody goes back to the form and sends another file with it.
    assert post(OTHER_LINES)["Location"] != first["Location"]
    assert Submission.objects.count() == QuotaCharge.objects.count() == 2


def upload_of(world: World) -> ImageUpload:
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="image.tar", size=5)
    return image_uploads.add(upload=upload, offset=0, chunk=b"image")


def test_an_uploaded_image_is_submitted_once(world: World, ada: Client) -> None:
    upload = upload_of(world)
    address = f"{ROOT}/image-uploads/{upload.pk}/submission/"

    def finish(**fields: str) -> Any:
        described = {"system": "Bernoulli", **fields}
        return ada.post(address, described, content_type="application/json", headers={"Idempotency-Key": "one"})

    first, again = finish(), finish()
    assert (first.status_code, again.status_code) == (201, 201), again.content
    assert first.json()["id"] == again.json()["id"] and QuotaCharge.objects.count() == 1
    assert error_of(finish(note="other"))["code"] == "idempotency_key_reused"


def test_an_image_in_a_registry_is_submitted_once(world: World, ada: Client, settings: Any) -> None:
    settings.REGISTRIES = ["registry.example"]

    first, again = refer(ada), refer(ada)
    assert (first.status_code, first.json()["id"]) == (201, again.json()["id"])
    assert QuotaCharge.objects.count() == 1 and error_of(refer(ada, system="Other"))["code"] == "idempotency_key_reused"


def test_a_form_with_an_uploaded_image_sent_twice(world: World) -> None:
    client = Client()
    client.force_login(world.researcher)
    upload, once = upload_of(world), str(uuid.uuid4())
    fields = {"once": once, "system": world.system.pk, "upload": str(upload.pk)}
    answers = [client.post("/benchmarks/tiny/test/submit-image/", fields) for _ in range(2)]
    assert Counter(answer["Location"] for answer in answers) == {Submission.objects.get().get_absolute_url(): 2}
