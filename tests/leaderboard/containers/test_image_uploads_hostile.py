"""Hostile uploads of archives: false digests, discarded meanwhile, twenty at once, unfinished; see `test_tus.py`."""

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
from leaderboard.models import Image, ImageUpload, QuotaCharge, Submission
from leaderboard.models.image import RETENTION, images_storage
from leaderboard.operations import sweep
from tests.support import tus_calls
from tests.support.api_calls import ROOT, client_of
from tests.support.rows import tiny_world
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db(transaction=True)
IMAGES = f"{ROOT}/benchmarks/tiny/phases/test/image-uploads/"
ARCHIVE = b"0123456789"


@pytest.fixture
def world() -> World:
    new_world = tiny_world.build(quota_per_day=5)
    takes_images(new_world)
    engine_is_there()
    sweep.sweep()  # files of earlier tests belong to no upload
    return new_world


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


def begin(client: Client, **metadata: str) -> Any:
    return tus_calls.create(client, IMAGES, len(ARCHIVE), filename="mine.tar", **metadata)


def finish(client: Client, upload: dict[str, Any]) -> Any:
    return client.post(upload["submission"], {"system": "Bernoulli"}, content_type="application/json")


def stored_files() -> list[str]:
    """Archives, pieces and unfinished files on the disk, including folders."""
    folders = (settings.DATA / "files" / "images" / "pieces", Path(settings.FILE_UPLOAD_TEMP_DIR))
    archives = settings.DATA / "files" / "images" / "archives"
    paths = [path for folder in folders if folder.exists() for path in folder.rglob("*")]
    return sorted(str(path) for path in [*paths, *(archives.rglob("*.tar") if archives.exists() else ())])


def test_a_digest_that_differs_from_the_announced_one(ada: Client) -> None:
    assert begin(ada, sha256="0" * 63).status_code == 422
    upload = begin(ada, sha256="0" * 64).json()
    tus_calls.append(ada, upload, 0, ARCHIVE)
    assert finish(ada, upload).status_code == 422
    assert not ImageUpload.objects.exists() and not Image.objects.exists()
    assert not any("pieces/" in name for name in stored_files())


def test_the_schema_declares_that_an_upload_may_be_gone_and_the_disk_full(ada: Client) -> None:
    schema = ada.get(f"{ROOT}/schema/", headers={"Accept": "application/json"}).json()
    assert {"410", "507"} <= schema["paths"][f"{ROOT}/image-uploads/{{id}}/submission/"]["post"]["responses"].keys()


def test_a_piece_that_arrives_while_the_upload_is_discarded(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored_files()
    upload = begin(ada).json()
    tus_calls.append(ada, upload, 0, ARCHIVE[:4])
    storage = image_uploads.images_storage()
    save = storage.save

    def discarded_after(*args: Any) -> str:
        name = save(*args)
        monkeypatch.undo()
        assert ada.delete(upload["url"]).status_code == 204
        return name

    monkeypatch.setattr(storage, "save", discarded_after)
    answer = tus_calls.append(ada, upload, 4, ARCHIVE[4:])
    assert (answer.status_code, answer.json()["code"]) == (410, "upload_gone")
    assert "already submitted or cancelled" in answer.json()["message"]
    assert stored_files() == before or stored_files() == [*before, str(settings.DATA / "files" / "images" / "pieces")]


def test_an_upload_that_is_discarded_while_it_is_assembled(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = begin(ada).json()
    tus_calls.append(ada, upload, 0, ARCHIVE)
    storage = image_uploads.images_storage()
    opened = storage.open

    def discarded_before(*args: Any) -> Any:
        monkeypatch.undo()
        assert ada.delete(upload["url"]).status_code == 204
        return opened(*args)

    monkeypatch.setattr(storage, "open", discarded_before)
    answer = finish(ada, upload)
    assert (answer.status_code, answer.json()["code"]) == (410, "upload_gone")
    assert Submission.objects.count() == QuotaCharge.objects.count() == Image.objects.count() == 0


def test_lost_pieces_are_a_server_error(ada: Client) -> None:
    upload = begin(ada).json()
    tus_calls.append(ada, upload, 0, ARCHIVE)
    for name in ImageUpload.objects.get().pieces:
        image_uploads.images_storage().delete(name)
    assert finish(ada, upload).status_code == 500
    assert ImageUpload.objects.exists()


def simultaneously(count: int, call: Callable[[int], Any]) -> list[Any]:
    """Results of threads that start together; each has its own connection."""
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


def test_twenty_uploads_of_one_person_at_once(world: World) -> None:
    def call(number: int) -> str:
        image_uploads.begin(phase=world.phase, by=world.researcher, name=f"{number}.tar", size=10)
        return "begun"

    answers = Counter(simultaneously(20, call))
    limit = image_uploads.AT_ONCE
    assert answers == {"begun": limit, Code.LIMIT_REACHED: 20 - limit}
    assert ImageUpload.objects.count() == limit


def test_finishing_an_upload_ten_times_simultaneously_submits_it_once(world: World) -> None:
    before = stored_files()
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="a.tar", size=10)
    image_uploads.add(upload=upload, offset=0, chunk=ARCHIVE)

    def call(number: int) -> str:
        image_uploads.finish(upload=ImageUpload.objects.filter(pk=upload.pk).first() or upload, entry=world.entry())
        return "submitted"

    answers = Counter(simultaneously(10, call))
    assert answers["submitted"] == 1 and not set(answers) - {"submitted", Code.UPLOAD_GONE}
    assert Submission.objects.count() == QuotaCharge.objects.count() == Image.objects.count() == 1
    assert len(set(stored_files()) - set(before)) == 1, "the archive without its pieces"


def test_unfinished_uploads_are_swept_with_their_pieces(world: World) -> None:
    nothing = stored_files()
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="a.tar", size=10)
    image_uploads.add(upload=upload, offset=0, chunk=ARCHIVE[:5])
    # One request died after the store and before the database; one person's account was deleted.
    storage = image_uploads.images_storage()
    storage.save(f"pieces/{upload.pk.hex}/{5:014d}", ContentFile(b"lost"))
    storage.save("pieces/" + "ab" * 16 + f"/{0:014d}", ContentFile(b"nobody's"))
    sweep.sweep()
    assert ImageUpload.objects.exists(), "recent files are retained"
    ImageUpload.objects.update(touched_at=timezone.now() - RETENTION - timedelta(seconds=1))
    sweep.sweep()
    assert not ImageUpload.objects.exists()
    assert stored_files() == nothing


def test_a_foreign_folder_among_the_pieces_is_ignored_and_stops_no_sweep(world: World) -> None:
    """For example a file system's lost+found, or an unpacked folder."""
    storage = images_storage()
    foreign = storage.save("pieces/lost+found/notes.txt", ContentFile(b"theirs"))
    nobodys = [storage.save(f"pieces/{index:032x}/{0:014d}", ContentFile(b"nobody's")) for index in range(5)]
    try:
        assert image_uploads.forget_old() == 0
        assert storage.exists(foreign) and not any(storage.exists(name) for name in nobodys)
    finally:
        storage.delete(foreign)
        storage.delete("pieces/lost+found")


def test_an_archive_without_a_submission_is_swept(world: World) -> None:
    nothing = stored_files()
    image = images.image_files.get_or_store(archive=ContentFile(ARCHIVE), sha256="ab" * 32)
    sweep.sweep()
    assert Image.objects.filter(pk=image.pk).exists(), "its submission may still arrive"
    Image.objects.update(created_at=timezone.now() - RETENTION - timedelta(seconds=1))
    sweep.sweep()
    assert not Image.objects.exists()
    assert stored_files() == nothing
    with pytest.raises(Refused, match="upload it again"):
        images.submit(phase=world.phase, entry=world.entry(), image=image)
    assert not QuotaCharge.objects.exists()
