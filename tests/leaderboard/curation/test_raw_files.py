"""Raw files: uploaded whole or in pieces, resumed, checked, hidden like gold, removable until a generator used them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.core import chunked_upload
from leaderboard.core.refusal import Code
from leaderboard.curation.actions import raw_files
from leaderboard.models import AuditEntry, RawFile, RawUpload, User
from tests.support import tus_calls
from tests.support.rows import generator_previews
from tests.support.rows.gold_uploads import close_all, files_of, refusal, uploaded
from tests.support.rows.tiny_world import World, build
from tests.support.simultaneous_calls import together

pytestmark = pytest.mark.django_db
CONTENT = generator_previews.claims()


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def started(world: World, content: bytes = CONTENT, **changes: Any) -> RawUpload:
    fields = {"dataset": world.split.dataset, "by": world.curator, "name": "mine.jsonl", "size": len(content)}
    return raw_files.begin(**{**fields, **changes})


def upload_pieces(world: World, *offsets: int, **changes: Any) -> RawUpload:
    upload = started(world, **changes)
    for first, last in zip((0, *offsets), (*offsets, len(CONTENT)), strict=True):
        raw_files.add_chunk(upload=upload, offset=first, chunk=CONTENT[first:last])
    return upload


def test_pieces_are_assembled_and_deleted(world: World) -> None:
    before = files_of("gold")
    raw = raw_files.finish(upload=upload_pieces(world, 7, 100), by=world.curator)
    with raw.file.open("rb") as stored:
        assert stored.read() == CONTENT
    assert (raw.sha256, raw.bytes, raw.name) == (hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "mine.jsonl")
    assert (raw.uploaded_by, raw.dataset) == (world.curator, world.split.dataset)
    assert len(files_of("gold") - before) == 1 and not RawUpload.objects.exists()
    act = AuditEntry.objects.get(action="raw_file.added")
    assert (act.actor, act.subject) == (world.curator, f"dataset:{raw.dataset_id}")


def test_pieces_out_of_order_or_repeated_are_refused_and_the_upload_resumes(world: World) -> None:
    upload = started(world)
    ahead = refusal(raw_files.add_chunk, upload=upload, offset=10, chunk=b"x")
    assert (ahead.code, ahead.message.split()[-1]) == (Code.WRONG_OFFSET, "0.")
    raw_files.add_chunk(upload=upload, offset=0, chunk=CONTENT[:10])
    twice = refusal(raw_files.add_chunk, upload=RawUpload.objects.get(), offset=0, chunk=CONTENT[:10])
    assert (twice.code, twice.message.split()[-1]) == (Code.WRONG_OFFSET, "10.")
    empty = refusal(raw_files.add_chunk, upload=RawUpload.objects.get(), offset=10, chunk=b"")
    early = refusal(raw_files.finish, upload=RawUpload.objects.get(), by=world.curator)
    assert (empty.code, early.code) == (Code.EMPTY_FILE, Code.UPLOAD_INCOMPLETE)
    upload = RawUpload.objects.get()
    raw_files.add_chunk(upload=upload, offset=upload.received, chunk=CONTENT[10:])
    assert raw_files.finish(upload=upload, by=world.curator).sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_content_that_differs_from_the_announcement_is_not_stored(world: World) -> None:
    before = files_of("gold")
    wrong = refusal(raw_files.finish, upload=upload_pieces(world, sha256="0" * 64), by=world.curator)
    assert wrong.code is Code.DIGEST_MISMATCH and "0" * 64 in wrong.message
    assert files_of("gold") == before and not RawUpload.objects.exists() and not RawFile.objects.exists()
    right = upload_pieces(world, sha256=hashlib.sha256(CONTENT).hexdigest())
    assert raw_files.finish(upload=right, by=world.curator).pk


@pytest.mark.parametrize(("size", "code"), [(0, Code.EMPTY_FILE), (10**6 + 1, Code.TOO_LARGE)])
def test_sizes_are_checked_before_anything_is_uploaded(world: World, settings: Any, size: int, code: Code) -> None:
    settings.MAX_RAW_BYTES = 10**6
    assert refusal(started, world=world, size=size).code is code


def test_the_same_file_is_stored_once(world: World) -> None:
    raw_files.add(dataset=world.split.dataset, file=uploaded(CONTENT, "first.jsonl"), by=world.curator)
    before = files_of("gold")
    duplicate = refusal(raw_files.finish, upload=upload_pieces(world), by=world.curator)
    assert duplicate.code is Code.ALREADY_EXISTS and "first.jsonl" in duplicate.message
    assert files_of("gold") == before


@pytest.mark.django_db(transaction=True)
def test_of_simultaneous_finishes_one_gets_a_file(world: World) -> None:
    upload_pieces(world)

    def finish() -> str:
        try:
            return str(raw_files.finish(upload=RawUpload.objects.get(), by=world.curator).pk)
        except (raw_files.Refused, RawUpload.DoesNotExist):
            return ""

    results = together([finish] * 3)
    assert len([result for result in results if result]) == 1 and RawFile.objects.count() == 1


def test_only_managers_upload_and_remove(world: World) -> None:
    raw, upload = generator_previews.raw(world), upload_pieces(world)
    for action, kwargs in (
        (started, {"world": world}),
        (raw_files.add, {"dataset": world.split.dataset, "file": uploaded(b"x\n")}),
        (raw_files.finish, {"upload": upload}),
        (raw_files.remove, {"raw": raw}),
    ):
        assert refusal(action, **kwargs, by=world.researcher).code is Code.NOT_AN_ORGANISER
    assert RawFile.objects.count() == 1


def test_it_is_removable_until_a_generator_used_it(world: World, django_capture_on_commit_callbacks: Any) -> None:
    raw = generator_previews.raw(world)
    stored = str(raw.file.name)
    used = generator_previews.done(world, raw)
    assert refusal(raw_files.remove, raw=raw, by=world.curator).code is Code.IN_USE
    assert storages["gold"].exists(stored)
    used.delete()
    with django_capture_on_commit_callbacks(execute=True):
        raw_files.remove(raw=raw, by=world.curator)
    assert not storages["gold"].exists(stored) and not RawFile.objects.exists()


def test_abandoned_uploads_are_removed(world: World) -> None:
    before = files_of("gold")
    upload_pieces(world)
    assert chunked_upload.delete_idle(RawUpload) == 0 and RawUpload.objects.exists()
    RawUpload.objects.update(touched_at=timezone.now() - timedelta(days=3))
    assert chunked_upload.delete_idle(RawUpload) == 1
    assert files_of("gold") - before == set()


def through_api(world: World) -> None:
    client = logged_in(world.curator)
    digest = hashlib.sha256(CONTENT).hexdigest()
    at = reverse("api_raw_uploads", args=["tiny"])
    upload_response = tus_calls.create(client, at, len(CONTENT), filename="mine.jsonl", sha256=digest)
    assert upload_response.status_code == 201
    upload = upload_response.json()
    assert tus_calls.append(client, upload, 0, CONTENT[:50]).status_code == 204
    lost = tus_calls.append(client, upload, 0, CONTENT[:50])
    assert (lost.status_code, lost.json()["code"]) == (409, "wrong_offset")
    assert client.get(upload["url"]).json()["received"] == 50
    assert tus_calls.append(client, upload, 50, CONTENT[50:]).status_code == 204
    page = reverse("manage_new_split", args=["tiny"])
    assert "mine.jsonl" in client.get(page).content.decode()
    assert client.post(page, {"upload": upload["id"]}).status_code == 302
    assert RawFile.objects.get().sha256 == digest


def test_without_a_script_it_is_uploaded_in_one_piece(world: World) -> None:
    client, page = logged_in(world.curator), reverse("manage_new_split", args=["tiny"])
    assert client.post(page, {"file": SimpleUploadedFile("a/b\\mine.jsonl", CONTENT)}).status_code == 302
    assert RawFile.objects.get().name == "mine.jsonl"
    nothing = client.post(page, {"file": SimpleUploadedFile("empty.jsonl", b"")})
    assert nothing.status_code == 422 and "The file is empty." in nothing.content.decode()
