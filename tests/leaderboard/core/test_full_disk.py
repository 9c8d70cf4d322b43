"""A full disk: 507 with a clear message, no partial file, no row and no quota used.

/dev/full refuses each write with the error of a full disk.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files import uploadedfile
from django.core.files.base import ContentFile
from django.core.files.storage import filesystem
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client

from leaderboard.core import disk
from leaderboard.core.refusal import Code
from leaderboard.core.storage import PrivateFileStorage
from leaderboard.core.web.refusals import HEADLINES
from leaderboard.models import ImageUpload, RawUpload, Submission
from leaderboard.submissions.actions import validation
from tests.support.api_calls import ROOT, SUBMIT, client_of, error_of, footprint, send
from tests.support.rows.tiny_world import World, build, prediction_lines

MESSAGE = (
    "The server's disk is full. Nothing from this request was stored, and no quota was used. Tell the operator, and "
    "try again later."
)
PAGE = "/benchmarks/tiny/test/submit/"


def full_error(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def half_moved(source: str, target: str, **_: Any) -> None:
    """Fails like a move to another file system, in the middle."""
    Path(target).write_bytes(Path(source).read_bytes()[:10])
    full_error()


@pytest.fixture
def world(db: None, sandbox: str) -> World:
    return build()


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


@pytest.fixture
def full_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stores are full; the folder of unfinished uploads is not."""
    monkeypatch.setattr(filesystem, "file_move_safe", half_moved)


@pytest.fixture
def full_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of unfinished uploads is full: a write to a file there fails, at the latest when it is flushed."""
    create = uploadedfile.tempfile.NamedTemporaryFile

    def on_a_full_disk(*arguments: Any, **options: Any) -> Any:
        file = create(*arguments, **options)
        full = os.open("/dev/full", os.O_RDWR)
        os.dup2(full, file.fileno())
        os.close(full)
        return file

    monkeypatch.setattr(uploadedfile.tempfile, "NamedTemporaryFile", on_a_full_disk)


def check_answer(answer: Any) -> None:
    assert (answer.status_code, error_of(answer)) == (507, {"code": "disk_full", "message": MESSAGE})


@pytest.mark.parametrize("where", ["full_store", "full_folder"])
@pytest.mark.parametrize("lines", [1, 10_000], ids=["small", "large"])
def test_an_upload_to_the_api(
    world: World, ada: Client, where: str, lines: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "validate_now", lambda **_: (1, []))  # the store is reached whatever the size
    before = footprint()
    request.getfixturevalue(where)
    content = prediction_lines() * lines
    check_answer(send(ada, content))
    check_answer(ada.post(f"{SUBMIT}?system=Bernoulli", content, content_type="application/x-ndjson"))
    assert footprint() == before


@pytest.mark.parametrize("where", ["full_store", "full_folder"])
def test_an_upload_on_the_page(world: World, where: str, request: pytest.FixtureRequest) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(world.researcher)
    before = footprint()
    request.getfixturevalue(where)
    file = SimpleUploadedFile("p.jsonl", prediction_lines())
    answer = client.post(PAGE, {"system": world.system.pk, "file": file})
    page = answer.content.decode().replace("&#x27;", "'")
    assert answer.status_code == 507
    assert HEADLINES[Code.DISK_FULL] in page and MESSAGE in page
    assert footprint() == before


def test_the_upload_works_again_once_there_is_space(world: World, ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(filesystem, "file_move_safe", half_moved)
        check_answer(send(ada, prediction_lines()))
    assert send(ada, prediction_lines()).status_code == 201
    assert Submission.objects.count() == 1


def test_no_part_of_a_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = PrivateFileStorage(location=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(filesystem.os, "fdopen", lambda fd, mode: Path("/dev/full").open(mode))  # noqa: SIM115
        with pytest.raises(OSError, match="No space left"):
            storage.save("folder/chunk", ContentFile(b"x" * 1000))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_files_of_one_name_are_both_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another request stores a file of the same name after this one has looked for a free name."""
    storage = PrivateFileStorage(location=tmp_path)
    first = storage.save("chunk", ContentFile(b"first"))
    second = storage._save("chunk", ContentFile(b"second"))
    contents = {name: storage.open(name).read() for name in (first, second)}
    assert contents == {"chunk": b"first", second: b"second"} and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("error", "is_full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (OperationalError("database or disk is full"), True),
        (OperationalError("could not extend file: No space left on device"), True),
        (OperationalError("database is locked"), False),
        (None, False),
    ],
)
def test_errors_of_a_full_disk_are_recognized(error: BaseException | None, is_full: bool) -> None:
    assert disk.is_full_error(error) == is_full


@pytest.mark.parametrize("address", [f"{ROOT}/benchmarks/tiny/", "/benchmarks/tiny/"])
def test_a_full_disk_anywhere_else(world: World, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr("leaderboard.models.benchmark.BenchmarkQuerySet.visible_to", full_error)
    answer = Client(raise_request_exception=False).get(address)
    assert answer.status_code == 507
    assert MESSAGE in answer.content.decode().replace("&#x27;", "'")
    assert ImageUpload.objects.count() == RawUpload.objects.count() == 0
