"""Uploads by the tus protocol: what its specification demands, and attacks on it."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import filesystem
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.http import parse_http_date

from leaderboard.containers.actions import image_uploads
from leaderboard.core import chunked_upload, disk
from leaderboard.core.api import tus
from leaderboard.models import Image, ImageUpload, RawUpload, UploadPiece
from leaderboard.models.chunked_upload import RETENTION
from tests.support.api_calls import ROOT, client_of, error_of, person, stored_files
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.tiny_world import World, build
from tests.support.simultaneous_calls import together

pytestmark = pytest.mark.django_db
IMAGES = f"{ROOT}/benchmarks/tiny/phases/test/image-uploads/"
SCORERS = f"{ROOT}/benchmarks/tiny/scorers/image-uploads/"
RAW = f"{ROOT}/benchmarks/tiny/raw-uploads/"
ARCHIVE = b"0123456789"
SIZE = len(ARCHIVE)
STATE = ("Upload-Offset", "Upload-Length")


@pytest.fixture
def world(db: None) -> World:
    world = build()
    takes_images(world)
    engine_is_there()
    return world


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def create(client: Client, size: Any = SIZE, body: bytes = b"", at: str = IMAGES, **headers: str) -> Any:
    sent = {"Tus-Resumable": "1.0.0", "Upload-Length": str(size), **dashed(headers)}
    return client.post(at, body, content_type=tus.MEDIA_TYPE, headers=sent)


def begun(client: Client, size: int = SIZE, **headers: str) -> str:
    """The path of a new upload."""
    response = create(client, size, **headers)
    assert response.status_code == 201, response.content
    location: str = response["Location"]
    return location.removeprefix("http://testserver")


def append(client: Client, url: str, offset: Any, body: bytes, kind: str = tus.MEDIA_TYPE, **headers: str) -> Any:
    sent = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(offset), **dashed(headers)}
    given = {name: text for name, text in sent.items() if text}
    # Django's client sends no type with an empty body.
    return client.patch(url, body, content_type=kind, headers=given, CONTENT_TYPE=kind)


def offset_of(client: Client, url: str) -> int:
    response = client.head(url, headers={"Tus-Resumable": "1.0.0"})
    assert response.status_code == 200
    return int(response["Upload-Offset"])


MALFORMED: list[dict[str, str]] = [
    {"Upload_Length": ""},
    {"Upload_Length": "-1"},
    {"Upload_Length": "1e3"},
    {"Upload_Length": "0"},
    {"Upload_Length": "9" * 19},
    {"Upload_Length": "\u0661\u0660"},
    {"Upload_Length": "", "Upload_Defer_Length": "1"},
    {"Upload_Metadata": "filename not-base64!"},
    {"Upload_Metadata": "filename bWluZQ==,filename bWluZQ=="},
    {"Upload_Metadata": ", "},
    {"Upload_Metadata": "filename /w=="},
    {"Upload_Metadata": f"note {encoded('x' * 4096)}"},
    {"Upload_Metadata": f"filename {encoded('x' * 256)}"},
    {"Upload_Metadata": f"filename {encoded('a' + chr(0))}"},
]


def dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): text for name, text in headers.items()}


def test_an_upload_from_creation_to_the_submission(ada: Client) -> None:
    metadata = f"filename {encoded('mïne.tar')},empty,sha256 {encoded(hashlib.sha256(ARCHIVE).hexdigest())}"
    response = create(ada, Upload_Metadata=metadata)
    assert (response.status_code, response["Tus-Resumable"], response.json()["received"]) == (201, "1.0.0", 0)
    url = response["Location"]
    head = ada.head(url, headers={"Tus-Resumable": "1.0.0"})
    assert (head["Upload-Metadata"], head["Cache-Control"]) == (metadata, "no-store")
    assert [head[name] for name in STATE] == ["0", "10"] and not head.content
    for offset in (0, 4):
        response = append(ada, url, offset, ARCHIVE[offset : offset + 6 if offset else 4])
        assert (response.status_code, response["Tus-Resumable"], response.content) == (204, "1.0.0", b"")
    assert response["Upload-Offset"] == "10"
    state = ada.get(url).json()
    assert (state["name"], state["received"]) == ("mïne.tar", 10)
    assert ada.post(state["submission"], {"system": "Mine"}, content_type="application/json").status_code == 201
    assert Image.objects.get().archive.read() == ARCHIVE
    assert ada.head(url, headers={"Tus-Resumable": "1.0.0"}).status_code == 404, "it is submitted"
    assert append(ada, url, 10, b"x").status_code == 404, "a chunk after the end"


@pytest.mark.parametrize("at", [IMAGES, SCORERS, RAW, "upload"])
def test_options_describe_the_server(world: World, at: str) -> None:
    curator = client_of(world.curator)
    response = curator.options(begun(curator) if at == "upload" else at)
    assert (response.status_code, response["Tus-Version"]) == (204, "1.0.0")
    assert response["Tus-Extension"].split(",") == [
        "creation",
        "creation-with-upload",
        "expiration",
        "checksum",
        "termination",
    ]
    assert response["Tus-Checksum-Algorithm"] == "sha256,sha1"
    assert int(response["Tus-Max-Size"]) == (settings.MAX_RAW_BYTES if at == RAW else settings.SYSTEM_IMAGE_MB * 10**6)


def test_options_reveal_no_benchmark(ada: Client) -> None:
    absent = ada.options(IMAGES.replace("tiny", "absent"))
    assert (absent.status_code, absent["Tus-Version"]) == (204, "1.0.0")
    assert Client().options(IMAGES).status_code == 401


def test_a_file_for_a_scorer_and_a_raw_file(world: World, ada: Client) -> None:
    curator = client_of(world.curator)
    for at in (SCORERS, RAW):
        assert create(ada, at=at).status_code == 404, "she manages nothing"
        url = create(curator, at=at)["Location"]
        assert append(curator, url, 0, ARCHIVE).status_code == 204
        assert curator.get(url).json()["received"] == len(ARCHIVE)
    assert RawUpload.objects.get().is_whole


@pytest.mark.parametrize("version", ["", "0.2.2", "1.0.1"])
def test_another_version_is_refused_before_anything_happens(ada: Client, version: str) -> None:
    url = begun(ada)
    refused = [create(ada, Tus_Resumable=version), append(ada, url, 0, ARCHIVE, Tus_Resumable=version)]
    if version:
        refused += [getattr(ada, verb)(url, headers={"Tus-Resumable": version}) for verb in ("head", "delete")]
    for response in refused:
        assert (response.status_code, response["Tus-Version"], response["Tus-Resumable"]) == (412, "1.0.0", "1.0.0")
    assert ImageUpload.objects.get().received == 0


def test_malformed_announcements_are_refused(ada: Client) -> None:
    statuses = [(headers, create(ada, **headers).status_code) for headers in MALFORMED]
    assert [(headers, status) for headers, status in statuses if status != 400] == []
    assert not ImageUpload.objects.exists()


def test_a_file_over_the_limit_is_refused(ada: Client, world: World) -> None:
    response = create(ada, 10**15)
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert create(client_of(world.curator), settings.MAX_RAW_BYTES + 1, at=RAW).status_code == 413


def test_an_invalid_track_is_refused_before_the_first_byte(ada: Client, world: World) -> None:
    response = create(ada, Upload_Metadata=f"track {encoded('none')}")
    assert (response.status_code, response.json()["code"]) == (422, "invalid_track")


def test_a_path_in_the_file_name_leads_nowhere(ada: Client) -> None:
    for sent, stored in (
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\mine.tar", "mine.tar"),
        ("/", "file"),
        ("..", ".."),
    ):
        url = begun(ada, Upload_Metadata=f"filename {encoded(sent)}")
        append(ada, url, 0, ARCHIVE)
        upload = ImageUpload.objects.get()
        assert upload.name == stored
        assert upload.pieces == [f"pieces/{upload.pk.hex}/{0:014d}"]
        ada.delete(url)


def test_offsets_that_are_wrong_store_nothing(ada: Client) -> None:
    url = begun(ada)
    assert append(ada, url, 0, ARCHIVE[:4]).status_code == 204
    for offset, body, status in (
        (0, ARCHIVE[:4], 409),
        (2, ARCHIVE[2:6], 409),
        (6, ARCHIVE[6:], 409),
        (6, b"", 409),
        ("", ARCHIVE[4:], 400),
        ("-4", ARCHIVE[4:], 400),
        (4, ARCHIVE[4:] + b"!", 413),
        (10**17, ARCHIVE[4:], 409),
    ):
        assert append(ada, url, offset, body).status_code == status, (offset, body)
    assert append(ada, url, 4, b"").status_code == 204, "no bytes at the right offset"
    assert (offset_of(ada, url), len(ImageUpload.objects.get().pieces)) == (4, 1)
    assert append(ada, url, 4, ARCHIVE[4:]).status_code == 204
    assert append(ada, url, 10, b"x").status_code == 413, "the file is complete"


def test_a_chunk_over_the_limit_or_of_another_type_is_refused(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    url = begun(ada)
    assert append(ada, url, 0, ARCHIVE, kind="application/octet-stream").status_code == 415
    assert append(ada, url, 0, b"", kind="application/octet-stream").status_code == 415
    assert append(ada, url, 0, ARCHIVE, Content_Encoding="gzip").status_code == 415
    assert append(ada, url, 0, ARCHIVE, Transfer_Encoding="chunked").status_code == 411
    for module in (tus, chunked_upload):
        monkeypatch.setattr(module, "CHUNK_BYTES", 4)
    response = append(ada, url, 0, ARCHIVE)
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert offset_of(ada, url) == 0


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_checksum_is_compared_before_the_chunk_is_stored(ada: Client, algorithm: str) -> None:
    url = begun(ada)
    wrong, right = (encoded(hashlib.new(algorithm, text).digest()) for text in (b"other", ARCHIVE))
    response = append(ada, url, 0, ARCHIVE, Upload_Checksum=f"{algorithm} {wrong}")
    assert (response.status_code, response.json()["code"]) == (460, "checksum_mismatch")
    assert offset_of(ada, url) == 0 and ImageUpload.objects.get().pieces == []
    for malformed in ("md5 AAAA", "sha1", "sha1 ?", f"SHA-1 {right}", " "):
        assert append(ada, url, 0, ARCHIVE, Upload_Checksum=malformed).status_code in (400, 460)
    assert append(ada, url, 0, ARCHIVE, Upload_Checksum=f"{algorithm} {right}").status_code == 204


def test_the_first_chunk_may_come_with_the_creation(ada: Client) -> None:
    response = create(ada, body=ARCHIVE[:4])
    assert (response.status_code, response["Upload-Offset"], response.json()["received"]) == (201, "4", 4)
    assert append(ada, response["Location"], 4, ARCHIVE[4:]).status_code == 204
    wrong = f"sha1 {encoded(bytes(20))}"
    for body, headers, status in ((ARCHIVE + b"!", {}, 413), (ARCHIVE, {"Upload_Checksum": wrong}, 460)):
        assert create(ada, body=body, **headers).status_code == status
    assert ImageUpload.objects.count() == 1, "what was refused leaves no upload"


def test_many_small_pieces_are_refused_and_each_costs_the_same(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_upload, "FEW_PIECES", 4)
    url, size = begun(ada, 3_000_000), []
    for offset in range(7):
        with CaptureQueriesContext(connection) as queries:
            assert append(ada, url, offset, b"x").status_code == 204
        size.append(sum(len(query["sql"]) for query in queries if "UPDATE" in query["sql"] or "INSERT" in query["sql"]))
    assert max(size) - min(size) < 20, "no statement grows"
    response = append(ada, url, 7, b"x")
    assert (response.status_code, error_of(response)["code"]) == (429, "limit_reached")
    assert response["Content-Type"] == "application/problem+json" and "1,000,000" in response.json()["detail"]
    assert offset_of(ada, url) == 7 and len(ImageUpload.objects.get().pieces) == 7
    ada.delete(url)
    assert not UploadPiece.objects.exists()


def test_an_upload_needs_room_on_the_disk(ada: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve, before = settings.DISK_ALARM_BYTES * disk.FULL, stored_files()
    monkeypatch.setattr(disk, "free_bytes", lambda: reserve + 2_500)
    url = begun(ada, 1_000)
    other = client_of(world.curator)
    response = create(other, 1_000, at=RAW)
    assert (response.status_code, error_of(response)["code"]) == (507, "disk_full"), "the first one lacks 1,000 bytes"
    assert create(other, 700, at=RAW).status_code == 201
    monkeypatch.setattr(disk, "free_bytes", lambda: reserve - 1)
    assert append(ada, url, 0, b"x").status_code == 507 and offset_of(ada, url) == 0
    assert stored_files() == before


def test_the_site_has_a_limit_of_uploads(ada: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_upload, "AT_ONCE_ON_SITE", 2)
    begun(ada)
    begun(ada)
    response = create(client_of(world.curator))
    assert (response.status_code, error_of(response)["code"]) == (429, "limit_reached")
    assert int(response["Retry-After"]) > 60
    ImageUpload.objects.update(touched_at=timezone.now() - timedelta(hours=2))
    assert create(client_of(world.curator)).status_code == 201


def test_pieces_of_lost_uploads_are_swept(ada: Client) -> None:
    append(ada, begun(ada), 0, ARCHIVE[:4])
    ImageUpload.objects.all().delete()
    assert chunked_upload.delete_idle(ImageUpload) == 0 and not UploadPiece.objects.exists()


def test_an_upload_expires(ada: Client) -> None:
    url = begun(ada)
    ImageUpload.objects.update(touched_at=timezone.now() - RETENTION / 2)
    expires = parse_http_date(append(ada, url, 0, ARCHIVE[:4])["Upload-Expires"])
    assert expires == int(ImageUpload.objects.get().expires_at.timestamp())
    assert expires > (timezone.now() + RETENTION / 2).timestamp(), "a chunk prolongs it"
    ImageUpload.objects.update(touched_at=timezone.now() - RETENTION - timedelta(seconds=1))
    for response in (ada.head(url, headers={"Tus-Resumable": "1.0.0"}), append(ada, url, 4, ARCHIVE[4:])):
        assert response.status_code == 410
    assert image_uploads.forget_old() == 1
    assert ada.head(url, headers={"Tus-Resumable": "1.0.0"}).status_code == 404


def test_an_upload_can_be_cancelled(ada: Client) -> None:
    url = begun(ada)
    append(ada, url, 0, ARCHIVE)
    (chunk,) = ImageUpload.objects.get().pieces
    assert ada.delete(url, headers={"Tus-Resumable": "1.0.0"}).status_code == 204
    assert append(ada, url, 10, b"").status_code == 404
    assert not image_uploads.images_storage().exists(chunk)


def test_a_client_without_patch_and_delete_overrides_post(ada: Client) -> None:
    url = begun(ada)
    override = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"}
    assert ada.post(url, ARCHIVE, content_type=tus.MEDIA_TYPE, headers=override).status_code == 204
    assert ada.get(url, headers={**override, "X-HTTP-Method-Override": "DELETE"}).status_code == 200, (
        "GET changes nothing"
    )
    assert ada.post(url, headers={**override, "X-HTTP-Method-Override": "GET"}).status_code == 405
    assert ada.post(url, headers={**override, "X-HTTP-Method-Override": "DELETE"}).status_code == 204
    assert not ImageUpload.objects.exists()


def test_a_session_needs_the_csrf_token_whatever_the_method(world: World) -> None:
    url = begun(client_of(world.researcher))
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.researcher)
    headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0"}
    assert append(browser, url, 0, ARCHIVE).status_code == create(browser).status_code == 403
    assert browser.post(url, headers={**headers, "X-HTTP-Method-Override": "DELETE"}).status_code == 403
    assert ImageUpload.objects.get().received == 0


def test_another_persons_upload_looks_like_a_missing_one(world: World, ada: Client) -> None:
    url = begun(ada, Upload_Metadata=f"filename {encoded('secret.tar')}")
    absent = url.replace(str(ImageUpload.objects.get().pk), "00000000-0000-4000-8000-000000000000")
    for other in (client_of(person("grace")), client_of(world.curator)):
        for call in (
            lambda at, other=other: other.head(at, headers={"Tus-Resumable": "1.0.0"}),
            lambda at, other=other: append(other, at, 0, ARCHIVE),
            lambda at, other=other: other.delete(at, headers={"Tus-Resumable": "1.0.0"}),
            lambda at, other=other: other.get(at),
        ):
            others, nobodys = call(url), call(absent)
            assert others.status_code == nobodys.status_code == 404
            if others.content:
                assert error_of(others) == error_of(nobodys)
            assert not {"Upload-Offset", "Upload-Metadata", "Upload-Length"} & set(others.headers)
    assert ImageUpload.objects.get().received == 0
    assert append(Client(), url, 0, ARCHIVE).status_code == 401


def test_a_person_has_three_open_uploads_at_most(ada: Client) -> None:
    statuses = [create(ada).status_code for _ in range(6)]
    assert statuses == [201, 201, 201, 429, 429, 429]


def test_a_full_disk_leaves_the_offset(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    url = begun(ada)
    with monkeypatch.context() as patched:
        patched.setattr(filesystem, "file_move_safe", full)
        patched.setattr(filesystem.os, "open", full)
        response = append(ada, url, 0, ARCHIVE)
        assert (response.status_code, response.json()["code"]) == (507, "disk_full")
        assert create(ada, body=ARCHIVE).status_code == 507
    assert offset_of(ada, url) == 0 and ImageUpload.objects.count() == 1
    assert append(ada, url, 0, ARCHIVE).status_code == 204


@pytest.mark.django_db(transaction=True)
def test_two_writers_at_once(world: World) -> None:
    client = client_of(world.researcher)
    url = begun(client)
    writers = [client_of(world.researcher) for _ in range(4)]
    statuses = together([lambda writer=writer: append(writer, url, 0, ARCHIVE).status_code for writer in writers])
    assert sorted(statuses) == [204, 409, 409, 409]
    assert len(ImageUpload.objects.get().pieces) == 1
