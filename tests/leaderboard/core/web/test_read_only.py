"""A data folder or a database that cannot be written: one answer for everything that would write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.files import uploadedfile
from django.core.files.storage import filesystem
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, OperationalError, connection
from django.test import Client
from django.utils import timezone

from leaderboard.core import disk
from leaderboard.core.api import tus
from leaderboard.models import Phase, WorkerReport
from tests.support.api_calls import ROOT, client_of, error_of, footprint, send
from tests.support.rows.tiny_world import World, build, prediction_lines

MESSAGE = f"The server cannot write to its disk or database. {disk.NOTHING_STORED} {disk.ASK}"
UPLOADS = f"{ROOT}/benchmarks/tiny/phases/test/image-uploads/"
TUS = {"Tus-Resumable": tus.VERSION, "Upload-Length": "5"}


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    world = build()
    Phase.objects.update(takes_images=True)
    WorkerReport.objects.create(queue="systems", host="there", ready=True, seen_at=timezone.now())
    return world


@contextmanager
def read_only_database() -> Iterator[None]:
    """The database refuses every write, as SQLite does in a read-only folder and PostgreSQL on a standby."""
    switch = "PRAGMA query_only = {}" if connection.vendor == "sqlite" else "SET default_transaction_read_only = {}"
    with connection.cursor() as cursor:
        cursor.execute(switch.format("ON"))
        try:
            yield
        finally:
            cursor.execute(switch.format("OFF"))


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def writers(world: World) -> dict[str, Callable[[], Any]]:
    api, page, anyone = client_of(world.researcher), Client(raise_request_exception=False), client_of()
    page.force_login(world.researcher)
    api.get(f"{ROOT}/systems/")
    person = {"username": world.researcher.username, "password": "correct horse"}
    form = {"system": world.system.pk, "note": "", "file": SimpleUploadedFile("p.jsonl", prediction_lines())}
    return {
        "upload": lambda: send(api, prediction_lines()),
        "upload on the page": lambda: page.post("/benchmarks/tiny/test/submit/", form),
        "log-in": lambda: anyone.post(
            "/accounts/login/", {"login": person["username"], "password": person["password"]}
        ),
        "token": lambda: anyone.post(f"{ROOT}/auth/tokens/", person, content_type="application/json"),
        "tus": lambda: api.post(UPLOADS, b"", content_type=tus.MEDIA_TYPE, headers=TUS),
        "team": lambda: page.post("/me/teams/", {"name": "New"}),
    }


@pytest.mark.django_db(transaction=True)
def test_a_read_only_database_is_told_alike(world: World) -> None:
    acts, before = writers(world), footprint()
    with read_only_database():
        answers = {name: act() for name, act in acts.items()}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(acts, 503)
    assert {name for name, answer in answers.items() if MESSAGE not in answer.content.decode()} == set()
    assert error_of(answers["upload"])["code"] == "store_unavailable" and "Retry-After" in answers["log-in"]
    assert footprint() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("where", ["folder of uploads", "store"])
def test_a_read_only_data_folder_is_told_alike(world: World, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    acts, before = writers(world), footprint()
    names = ["upload", "upload on the page"]
    with monkeypatch.context() as patched:
        if where == "store":
            patched.setattr(filesystem, "file_move_safe", refuse)
        else:
            patched.setattr(uploadedfile.tempfile, "NamedTemporaryFile", refuse)
        answers = {name: acts[name]() for name in names}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(names, 503)
    assert {name for name, answer in answers.items() if MESSAGE not in answer.content.decode()} == set()
    assert footprint() == before


@pytest.mark.parametrize(
    ("error", "is_unwritable"),
    [
        (OSError(errno.EROFS, "Read-only file system"), True),
        (OSError(errno.EACCES, "Permission denied"), True),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (OperationalError("attempt to write a readonly database"), True),
        (OperationalError("unable to open database file"), True),
        (DatabaseError("no such column"), False),
        (None, False),
    ],
)
def test_errors_of_a_disk_that_cannot_be_written(error: BaseException | None, is_unwritable: bool) -> None:
    assert disk.is_unwritable_error(error) == is_unwritable
