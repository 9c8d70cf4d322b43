"""Archives that arrive oddly: out of order, overlapping, lying, twenty at once, somebody else's, never ended."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from leaderboard.containers.actions import image_uploads, images
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Image, ImageUpload, Prediction, QuotaCharge, Submission
from leaderboard.models.image import RETENTION, images_storage
from leaderboard.operations import sweep
from tests.support import tiny_world
from tests.support.api_calls import ROOT, client_of, person
from tests.support.container_rows import engine_is_there, takes_images
from tests.support.tiny_world import World

pytestmark = pytest.mark.django_db(transaction=True)
IMAGES = f"{ROOT}/benchmarks/tiny/phases/test/images/"
ARCHIVE = b"0123456789"


@pytest.fixture
def here() -> World:
    made = tiny_world.build(quota_per_day=5)
    takes_images(made)
    engine_is_there()
    sweep.sweep()  # what earlier tests left belongs to nobody
    return made


@pytest.fixture
def ada(here: World) -> Client:
    return client_of(here.researcher)


def begin(client: Client, size: int = len(ARCHIVE), **more: Any) -> Any:
    asked = {"name": "mine.tar", "bytes": size, **more}
    return client.post(IMAGES, asked, content_type="application/json")


def piece(client: Client, upload: dict[str, Any], offset: int | str, content: bytes) -> Any:
    address = f"{upload['chunks']}?offset={offset}"
    return client.post(address, content, content_type="application/octet-stream")


def finish(client: Client, upload: dict[str, Any]) -> Any:
    return client.post(upload["submission"], {"system": "Bernoulli"}, content_type="application/json")


def stored() -> list[str]:
    """Archives, pieces and unfinished files on the disk; folders too."""
    folders = (settings.DATA / "files" / "images" / "pieces", Path(settings.FILE_UPLOAD_TEMP_DIR))
    archives = settings.DATA / "files" / "images" / "archives"
    found = [path for folder in folders if folder.exists() for path in folder.rglob("*")]
    return sorted(str(path) for path in [*found, *(archives.rglob("*.tar") if archives.exists() else ())])


def test_pieces_out_of_order_overlapping_repeated_empty_and_beyond_the_end(ada: Client) -> None:
    upload = begin(ada).json()
    assert piece(ada, upload, 5, ARCHIVE[5:]).status_code == 409, "not the first"
    assert piece(ada, upload, 0, ARCHIVE[:4]).json()["received"] == 4
    before = stored()
    odd: list[tuple[int | str, bytes, int]] = [
        (0, ARCHIVE[:4], 409),  # again
        (2, ARCHIVE[2:6], 409),  # over what is here
        (6, ARCHIVE[6:], 409),  # with a gap
        (4, b"", 422),
        (4, ARCHIVE[4:] + b"!", 422),  # one more than was announced
        (-1, b"x", 422),
        ("", b"x", 422),
        ("1e1", b"x", 422),
        (10**30, b"x", 409),
    ]
    for offset, content, status in odd:
        answer = piece(ada, upload, offset, content)
        assert answer.status_code in (status, 400), (offset, answer.status_code, answer.content)
    assert stored() == before
    assert finish(ada, upload).status_code == 422, "not whole"
    assert piece(ada, upload, 4, ARCHIVE[4:]).json()["received"] == 10
    assert piece(ada, upload, 10, b"x").status_code == 422
    assert finish(ada, upload).status_code == 201
    assert Image.objects.get().archive.read() == ARCHIVE
    assert not ImageUpload.objects.exists()


def test_a_piece_over_sixteen_megabytes(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    most = image_uploads.PIECE_BYTES
    upload = begin(ada, size=most * 2).json()
    assert upload["chunk_bytes"] == most
    before = stored()
    assert piece(ada, upload, 0, b"x" * (most + 1)).status_code == 413
    assert stored() == before
    assert piece(ada, upload, 0, b"x" * most).json()["received"] == most


@pytest.mark.parametrize("size", [0, -1, 10**13, 10**40, "10", True, None])
def test_sizes_that_are_no_images(ada: Client, size: Any) -> None:
    answer = begin(ada, size=size)
    assert answer.status_code in (400, 413, 422) or (size == "10" and answer.status_code == 201)
    assert ImageUpload.objects.count() == (answer.status_code == 201)


def test_a_digest_that_was_announced_and_is_another(ada: Client) -> None:
    assert begin(ada, sha256="0" * 63).status_code == 422
    upload = begin(ada, sha256="0" * 64).json()
    piece(ada, upload, 0, ARCHIVE)
    assert finish(ada, upload).status_code == 422
    assert not ImageUpload.objects.exists() and not Image.objects.exists()
    assert not any("pieces/" in name for name in stored())


def test_an_empty_body_is_told_what_was_expected(ada: Client) -> None:
    answer = piece(ada, begin(ada).json(), 0, b"")
    assert answer.status_code == 400
    assert answer.json()["message"] == "The body is empty; expected the next chunk of the archive."


def test_a_piece_that_arrives_while_the_upload_is_given_up(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored()
    upload = begin(ada).json()
    piece(ada, upload, 0, ARCHIVE[:4])
    storage = image_uploads.images_storage()
    save = storage.save

    def given_up_after(*given: Any) -> str:
        name = save(*given)
        monkeypatch.undo()
        assert ada.delete(upload["url"]).status_code == 204
        return name

    monkeypatch.setattr(storage, "save", given_up_after)
    answer = piece(ada, upload, 4, ARCHIVE[4:])
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_offset")
    assert "already submitted or cancelled" in answer.json()["message"]
    assert stored() == before or stored() == [*before, str(settings.DATA / "files" / "images" / "pieces")]


def test_an_upload_that_is_given_up_while_it_is_put_together(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = begin(ada).json()
    piece(ada, upload, 0, ARCHIVE)
    storage = image_uploads.images_storage()
    opened = storage.open

    def given_up_before(*given: Any) -> Any:
        monkeypatch.undo()
        assert ada.delete(upload["url"]).status_code == 204
        return opened(*given)

    monkeypatch.setattr(storage, "open", given_up_before)
    answer = finish(ada, upload)
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_offset")
    assert Submission.objects.count() == QuotaCharge.objects.count() == Image.objects.count() == 0


def test_pieces_that_are_lost_are_our_fault(ada: Client) -> None:
    upload = begin(ada).json()
    piece(ada, upload, 0, ARCHIVE)
    for name in ImageUpload.objects.get().pieces:
        image_uploads.images_storage().delete(name)
    assert finish(ada, upload).status_code == 500
    assert ImageUpload.objects.exists()


def test_somebody_elses_upload_is_as_one_that_is_not_there(here: World, ada: Client) -> None:
    upload = begin(ada).json()
    stranger = client_of(person("grace"))
    absent = {name: address.replace(upload["id"], "00000000-0000-4000-8000-000000000000") for name, address in
              ((name, upload[name]) for name in ("url", "chunks", "submission"))}  # fmt: skip
    for call in (
        lambda at: stranger.get(at["url"]),
        lambda at: stranger.delete(at["url"]),
        lambda at: piece(stranger, at, 0, ARCHIVE),
        lambda at: finish(stranger, at),
    ):
        theirs, nobodys = call(upload), call(absent)
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.content == nobodys.content
    assert ImageUpload.objects.get().received == 0


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    """What each of so many threads got, let go together; each has a connection of its own."""
    together = threading.Barrier(count)

    def one(number: int) -> Any:
        together.wait()
        try:
            return call(number)
        except Refused as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_twenty_uploads_of_one_person_at_once(here: World) -> None:
    def call(number: int) -> str:
        image_uploads.begin(phase=here.phase, by=here.researcher, name=f"{number}.tar", size=10)
        return "begun"

    answers = Counter(at_once(20, call))
    most = image_uploads.AT_ONCE
    assert answers == {"begun": most, Code.QUOTA_EXCEEDED: 20 - most}
    assert ImageUpload.objects.count() == most


def test_the_same_piece_ten_times_at_once(here: World) -> None:
    upload = image_uploads.begin(phase=here.phase, by=here.researcher, name="a.tar", size=10)

    def call(number: int) -> str:
        image_uploads.add(upload=ImageUpload.objects.get(pk=upload.pk), offset=0, piece=ARCHIVE)
        return "kept"

    assert Counter(at_once(10, call)) == {"kept": 1, Code.WRONG_OFFSET: 9}
    assert len([name for name in stored() if upload.pk.hex in name]) == 2, "one piece in its folder"


def test_finishing_an_upload_ten_times_at_once_submits_it_once(here: World) -> None:
    before = stored()
    upload = image_uploads.begin(phase=here.phase, by=here.researcher, name="a.tar", size=10)
    image_uploads.add(upload=upload, offset=0, piece=ARCHIVE)

    def call(number: int) -> str:
        image_uploads.finish(
            upload=ImageUpload.objects.filter(pk=upload.pk).first() or upload, system=here.system, by=here.researcher
        )
        return "submitted"

    answers = Counter(at_once(10, call))
    assert answers["submitted"] == 1 and not set(answers) - {"submitted", Code.WRONG_OFFSET}
    assert Submission.objects.count() == QuotaCharge.objects.count() == Image.objects.count() == 1
    assert len(set(stored()) - set(before)) == 1, "the archive, and nothing that it was made of"


def test_twenty_submits_at_once_with_a_quota_of_five_are_exactly_five(here: World) -> None:
    """The same archive and others; those that are refused leave no charge, row or message."""

    def call(number: int) -> str:
        upload = ImageUpload(phase=here.phase, by=here.researcher, name="a.tar", bytes=10)
        upload.save()
        image_uploads.add(upload=upload, offset=0, piece=ARCHIVE if number % 2 else b"%010d" % number)
        image_uploads.finish(upload=upload, system=here.system, by=here.researcher)
        return "submitted"

    assert Counter(at_once(20, call)) == {"submitted": 5, Code.QUOTA_EXCEEDED: 15}
    assert [model.objects.count() for model in (Submission, QuotaCharge, Prediction)] == [5, 5, 5]


def test_what_is_never_finished_is_swept_with_its_pieces(here: World) -> None:
    nothing = stored()
    upload = image_uploads.begin(phase=here.phase, by=here.researcher, name="a.tar", size=10)
    image_uploads.add(upload=upload, offset=0, piece=ARCHIVE[:5])
    # A request died after the store and before the database, and a person is no more.
    storage = image_uploads.images_storage()
    storage.save(f"pieces/{upload.pk.hex}/{5:014d}", ContentFile(b"lost"))
    storage.save("pieces/" + "ab" * 16 + f"/{0:014d}", ContentFile(b"nobody's"))
    sweep.sweep()
    assert ImageUpload.objects.exists(), "what is young is kept"
    ImageUpload.objects.update(touched_at=timezone.now() - RETENTION - timedelta(seconds=1))
    sweep.sweep()
    assert not ImageUpload.objects.exists()
    assert stored() == nothing


def test_a_foreign_folder_among_the_pieces_is_left_alone_and_stops_no_sweep(here: World) -> None:
    """As a file system's lost+found, or what somebody unpacked there."""
    storage = images_storage()
    foreign = storage.save("pieces/lost+found/notes.txt", ContentFile(b"theirs"))
    nobodys = [storage.save(f"pieces/{place:032x}/{0:014d}", ContentFile(b"nobody's")) for place in range(5)]
    try:
        assert image_uploads.forget_old() == 0
        assert storage.exists(foreign) and not any(storage.exists(name) for name in nobodys)
    finally:
        storage.delete(foreign)
        storage.delete("pieces/lost+found")


def test_an_archive_that_nobody_submitted_is_swept(here: World) -> None:
    nothing = stored()
    kept = images.image_files.get_or_store(archive=ContentFile(ARCHIVE), sha256="ab" * 32)
    sweep.sweep()
    assert Image.objects.filter(pk=kept.pk).exists(), "its submission may be on its way"
    Image.objects.update(created_at=timezone.now() - RETENTION - timedelta(seconds=1))
    sweep.sweep()
    assert not Image.objects.exists()
    assert stored() == nothing
    with pytest.raises(Refused, match="upload it again"):
        images.submit(phase=here.phase, system=here.system, image=kept, by=here.researcher)
    assert not QuotaCharge.objects.exists()
