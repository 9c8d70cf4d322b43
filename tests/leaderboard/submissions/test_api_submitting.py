"""Submitting predictions through the API, and the state after a refusal."""

from __future__ import annotations

import gzip
import io
import json
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, QuotaCharge, Run, Submission, System
from leaderboard.scoring.actions import runs
from tests.support.api_calls import ROOT, SUBMIT, client_of, error_of, footprint, person, send
from tests.support.rows.tiny_world import LABELS, World, build, prediction_lines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def ada(world) -> Client:
    return client_of(world.researcher)


def test_an_empty_body_is_reported_as_empty(ada):
    """Not as a missing system, which the query contains."""
    answer = ada.post(f"{SUBMIT}?system=Bernoulli", b"", content_type="application/x-ndjson")
    assert answer.status_code == 400
    assert error_of(answer) == {
        "code": "parse_error",
        "message": "The body is empty; expected a predictions file.",
    }
    assert not Submission.objects.exists()


def test_a_file_is_submitted_followed_scored_and_downloaded(world, ada):
    content = prediction_lines({**LABELS, "a4": "REFUTES"})
    response = send(ada, content, note="seed 7")
    assert response.status_code == 201
    body = response.json()
    assert response["Location"] == body["url"]
    assert body["state"] == "queued" and body["queue_position"] == 0 and not body["is_over"]
    assert (body["system"], body["team"], body["note"]) == ("Bernoulli", "Analytical Engines", "seed 7")
    assert (body["file"]["bytes"], body["file"]["n_lines"]) == (len(content), 4)
    assert ada.get(body["scores"]).json()["code"] == "not_ready"

    runs.WORK.run(Run.objects.get().pk)

    after = ada.get(body["url"]).json()
    assert after["state"] == "done" and after["is_over"] and after["queue_position"] is None
    assert after["receipt"]["predictions_sha256"] == body["file"]["sha256"]
    scores = ada.get(body["scores"]).json()
    scores_by_slice = {(s["measure"], json.dumps(s["slice"])): s["value"] for s in scores["scores"]}
    assert scores_by_slice["accuracy", "{}"] == 0.75
    assert scores_by_slice["accuracy", '{"origin": "original"}'] == 1.0
    assert scores_by_slice["group_accuracy", "{}"] == 0.0
    fetched = ada.get(body["file"]["url"])
    assert b"".join(fetched.streaming_content) == content
    assert fetched["Content-Disposition"] == 'attachment; filename="predictions.jsonl"'
    assert fetched["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "application/jsonl", "application/octet-stream"])
def test_a_raw_body_is_a_file(ada, content_type):
    content, before = prediction_lines(), footprint()["files"]
    answer = ada.post(f"{SUBMIT}?system=Bare&note=raw&name=mine.jsonl", content, content_type=content_type)
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["system"], body["note"], body["file"]["name"]) == ("Bare", "raw", "mine.jsonl")
    assert b"".join(ada.get(body["file"]["url"]).streaming_content) == content
    assert set(footprint()["files"]) - set(before) == {Submission.objects.get().predictions.get().file.path}


def test_a_raw_gzip_body_is_decompressed_by_its_type(ada):
    answer = ada.post(f"{SUBMIT}?system=Bare", gzip.compress(prediction_lines()), content_type="application/gzip")
    assert answer.status_code == 201, answer.content
    assert answer.json()["file"]["n_lines"] == 4


def test_a_new_name_creates_a_system_only_when_a_file_is_accepted(world, ada):
    assert send(ada, b"{", system="Newcomer").status_code == 422
    assert not System.objects.filter(name="Newcomer").exists()
    assert send(ada, prediction_lines(), system=" Newcomer  II ").status_code == 201
    assert System.objects.get(name="Newcomer II").team == world.system.team


def test_an_invalid_file_costs_no_quota_and_stores_nothing(world, ada):
    before = footprint()
    content = prediction_lines({**LABELS, "a2": "MAYBE"})
    answer = send(ada, content)
    assert answer.status_code == 422
    body = answer.json()
    assert body["code"] == "invalid_predictions" and body["more"] == 0
    (problem,) = body["problems"]
    assert (problem["file"], problem["line"]) == ("predictions.jsonl", 2)
    assert problem["text"].startswith("predictions.jsonl:2: ") and "SUPPORTS" in problem["expected"]
    assert footprint() == before
    assert [entry.action for entry in AuditEntry.objects.filter(subject=f"phase:{world.phase.pk}")] == [
        "submission.refused"
    ]


def refused_entry(world, *, seconds, minutes_ago, action="submission.refused"):
    """An entry of a refused file. The field is set by the database on creation, and rows refuse updates."""
    at = timezone.now() - timedelta(minutes=minutes_ago)
    detail = {"reason": "bad_predictions", "cpu_seconds": seconds}
    entry = AuditEntry(actor=world.researcher, action=action, subject=f"phase:{world.phase.pk}", detail=detail)
    with mock.patch.object(timezone, "now", lambda: at):
        entry.save()


def test_the_processor_time_of_a_refused_file_is_recorded(world, ada):
    send(ada, b"x\n" * 50_000)
    assert AuditEntry.objects.get(action="submission.refused").detail["cpu_seconds"] > 0
    assert send(ada, prediction_lines()).status_code == 201


def test_files_that_are_refused_again_and_again_get_a_limit(world, ada, settings):
    """Each takes all the processor time that one file may take, and costs no quota."""
    for minutes_ago in (90, 50, 30, 20):
        refused_entry(world, seconds=settings.REFUSED_SECONDS / 2, minutes_ago=minutes_ago)
    refused_entry(world, seconds=settings.REFUSED_SECONDS / 2, minutes_ago=40, action="gold.refused")
    before = footprint()
    answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (429, "throttled")
    assert "took 1200 seconds of the server's processor time, expected at most 600." in answer.json()["message"]
    assert 1190 <= int(answer["Retry-After"]) <= 1200, "when the file of 40 minutes ago no longer counts"
    assert footprint() == before
    someone = person("someone")
    world.system.team.members.add(someone)
    assert send(client_of(someone), prediction_lines()).status_code == 201, "each user has an own limit"


def test_refused_files_up_to_the_limit_and_older_ones_are_allowed(world, ada, settings):
    refused_entry(world, seconds=settings.REFUSED_SECONDS, minutes_ago=61)
    refused_entry(world, seconds=settings.REFUSED_SECONDS / 2, minutes_ago=59)
    refused_entry(world, seconds=settings.REFUSED_SECONDS / 2, minutes_ago=1)
    assert send(ada, prediction_lines()).status_code == 201


@pytest.mark.parametrize("raw", [False, True])
def test_a_file_over_the_limit_is_read_up_to_the_limit(ada, settings, raw):
    settings.MAX_UPLOAD_BYTES = 200_000
    before = footprint()
    content = b" " * 300_000
    answer = ada.post(f"{SUBMIT}?system=S", content, content_type="application/x-ndjson") if raw else send(ada, content)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert footprint() == before


def test_a_body_with_a_too_large_content_length_is_not_read(ada):
    announced = str(settings.MAX_UPLOAD_BYTES + 2_000_000)
    answer = ada.post(SUBMIT, b"x", content_type="application/x-ndjson", headers={"Content-Length": announced})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("headers", "content_type", "status", "code"),
    [
        ({"Content-Encoding": "deflate"}, "application/x-ndjson", 415, "unsupported_media_type"),
        ({"Transfer-Encoding": "chunked"}, "application/x-ndjson", 411, "length_required"),
        ({}, "application/json", 415, "unsupported_media_type"),
        ({}, "text/plain", 415, "unsupported_media_type"),
        ({}, "multipart/form-data", 400, "parse_error"),
        ({}, "multipart/form-data; boundary=nowhere", 400, "invalid"),
    ],
)
def test_an_unreadable_body_is_refused_with_a_reason(ada, headers, content_type, status, code):
    before = footprint()
    answer = ada.post(f"{SUBMIT}?system=S", prediction_lines(), content_type=content_type, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert footprint() == before


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "multipart"])
def test_a_truncated_body_is_refused(ada, content_type):
    before = footprint()
    if content_type == "multipart":
        content_type = "multipart/form-data; boundary=b"
        head = b'--b\r\nContent-Disposition: form-data; name="system"\r\n\r\nS\r\n'
        head += b'--b\r\nContent-Disposition: form-data; name="file"; filename="p.jsonl"\r\n\r\n'
        body = head + prediction_lines()
    else:
        body = prediction_lines()
    broken = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body) + 500)}
    answer = ada.post(f"{SUBMIT}?system=S", **broken, CONTENT_TYPE=content_type)
    assert (answer.status_code, answer.json()["code"]) == (400, "upload_interrupted")
    assert footprint() == before


def test_missing_fields_are_named(ada):
    answer = ada.post(SUBMIT, {"note": "x" * 301})
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) == {"file", "system", "note"}


def test_other_fields_are_ignored(world, ada):
    forged = {"state": "done", "submitted_by": world.curator.pk, "received_at": "2001-01-01T00:00:00Z", "id": "1"}
    forged |= {"score": "1.0", "kind": "organiser", "is_public": "true", "phase": "other", "name": "../../x"}
    assert send(ada, prediction_lines(), **forged).status_code == 201
    submission = Submission.objects.get()
    assert submission.submitted_by == world.researcher
    assert submission.received_at.year > 2001
    assert submission.system.kind == System.Kind.PARTICIPANT
    assert Run.objects.get().state == "queued"


def test_a_closed_phase_is_refused_with_its_closing_date(world, ada):
    world.phase.closes_at = timezone.now() - timedelta(hours=1)
    world.phase.save()
    answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (409, "phase_closed")


def test_a_used_quota_is_refused_with_its_reset_time(world, ada):
    world.phase.quota_per_day = 1
    world.phase.save()
    assert send(ada, prediction_lines()).status_code == 201
    answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
    assert QuotaCharge.objects.count() == 1
    (phase,) = ada.get(f"{ROOT}/benchmarks/tiny/").json()["phases"]
    assert (phase["quota"]["used_today"], phase["quota"]["left_today"]) == (1, 0)


def test_nobody_submits_for_a_team_without_membership(world):
    stranger = client_of(person("mallory"))
    answer = send(stranger, prediction_lines(), team="Analytical Engines")
    assert (answer.status_code, answer.json()["code"]) == (403, "not_a_member")
    absent = send(stranger, prediction_lines(), team="No Such Team")
    assert absent.json()["message"].replace("No Such Team", "Analytical Engines") == answer.json()["message"]


def test_a_first_submission_creates_a_personal_team(world):
    grace = person("grace")
    answer = send(client_of(grace), prediction_lines())
    assert answer.status_code == 201
    assert answer.json()["team"] == "grace"
    assert Submission.objects.get().system != world.system


def test_without_a_token_nothing_is_read(world):
    answer = send(Client(), prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert answer["WWW-Authenticate"] == "Token"


def test_a_session_needs_its_csrf_token(world):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.researcher)
    answer = send(browser, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    browser.cookies["csrftoken"] = "a" * 32
    allowed = browser.post(
        SUBMIT,
        {"system": "S", "file": SimpleUploadedFile("p.jsonl", prediction_lines())},
        headers={"X-CSRFToken": "a" * 32},
    )
    assert allowed.status_code == 201, allowed.content


def test_an_unavailable_sandbox_is_a_server_error_and_costs_no_quota(ada, settings):
    settings.SANDBOX_SOCKET = "/nowhere.sock"
    before = footprint()
    answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (503, "sandbox_unavailable")
    assert footprint() == before


def test_a_file_is_not_at_fault_if_the_machine_is_too_busy_to_check_it(ada, monkeypatch):
    """The check reaches its limit of wall time with its processor time unused, as beside other large files."""

    def time_out(*_):
        raise sandbox_client.SandboxTimeoutError("the job reached its limit of wall time")

    before = footprint()
    with monkeypatch.context() as patched:
        patched.setattr(sandbox_client.ProcessSandbox, "run", time_out)
        answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (503, "sandbox_unavailable")
    assert answer.json()["message"] == "Your file could not be checked: the server is too busy. Try again soon."
    assert 1 <= int(answer["Retry-After"]) <= 30
    assert footprint() == before
    assert send(ada, prediction_lines()).status_code == 201


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"x")], ids=["missing", "altered"])
def test_a_file_is_not_at_fault_if_the_inputs_cannot_be_read(world, ada, spoil):
    """Its check is not among the user's refused files, whose processor time is limited."""
    spoil(Path(world.split.inputs.path))
    answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (503, "sandbox_unavailable")
    assert "the benchmark's inputs cannot be read" in answer.json()["message"]
    assert not AuditEntry.objects.filter(action="submission.refused").exists()


def test_predictions_whose_file_is_missing_are_not_found(world, ada):
    submission = world.submit()
    Path(submission.predictions.get().file.path).unlink()
    ada.force_login(world.researcher)
    for address in (
        f"{ROOT}/submissions/{submission.pk}/predictions/",
        reverse("download_prediction", args=[submission.pk]),
    ):
        assert ada.get(address).status_code == 404, address
