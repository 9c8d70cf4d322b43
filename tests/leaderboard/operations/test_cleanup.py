"""`manage.py cleanup` removes only what nobody needs; `check_files` names files that differ from their records."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.utils import timezone
from knox.models import AuthToken
from moto import mock_aws

from leaderboard.models import AuditEntry, Image
from leaderboard.operations import cleanup, orphaned_files
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
MONTH = 30 * 86_400
ALIASES = (*orphaned_files.STORED_FOLDERS, "images", "archives")
WEEK = 7 * 86_400


@pytest.fixture
def world(tmp_path: Path, settings: Any) -> World:
    """A site with its own folders. Stores of files are shared, so files of earlier tests are removed."""
    settings.DATA = tmp_path
    for alias in ALIASES:
        shutil.rmtree(storages[alias].base_location, ignore_errors=True)  # type: ignore[attr-defined]
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads"
    return build()


def tidy(*arguments: str) -> str:
    out = io.StringIO()
    call_command("cleanup", *arguments, stdout=out)
    return out.getvalue()


def aged(path: Path, seconds: float, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_old_files_are_deleted_only_with_the_option(world: World, tmp_path: Path) -> None:
    old = [aged(tmp_path / "uploads" / "a.upload", 2 * 86_400), aged(tmp_path / "mail" / "a.log", MONTH + 60)]
    old.append(aged(tmp_path / "log" / "web.log.1", MONTH + 60))
    young = [aged(tmp_path / "uploads" / "b.upload", 60), aged(tmp_path / "mail" / "b.log", MONTH - 60)]
    young += [aged(tmp_path / "log" / "web.log", MONTH + 60)]
    output = tidy()
    assert "broken uploads: 1," in output and "mails: 1," in output and "old logs: 1," in output
    assert all(path.exists() for path in old + young)
    tidy("--apply")
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in young)
    assert "mails: 0," in tidy("--days", "31")


def test_a_large_log_keeps_its_end_while_it_is_written_to(tmp_path: Path, settings: Any) -> None:
    settings.DATA = tmp_path
    log = aged(tmp_path / "log" / "web.log", 0, b"early\n" * 2_000_000 + b"late\n")
    with log.open("ab") as writer:
        tidy("--apply")
        writer.write(b"later\n")
    remaining = log.read_bytes()
    assert len(remaining) <= cleanup.LARGE_LOG_BYTES // 10 + 10
    assert remaining.endswith(b"late\nlater\n") and remaining.startswith(b"early\n")


def test_expired_sessions_and_tokens_are_deleted(world: World) -> None:
    now = timezone.now()
    for key, days in {"past": -1, "open": 1}.items():
        Session.objects.create(session_key=key, session_data="", expire_date=now + timedelta(days=days))
        AuthToken.objects.create(user=world.researcher, expiry=timedelta(days=days))
    tidy("--apply")
    assert [session.session_key for session in Session.objects.all()] == ["open"]
    assert [token.expiry > now for token in AuthToken.objects.all()] == [True]


def stored(alias: str, name: str, seconds: float = WEEK + 60) -> Path:
    """Stores a file that no row refers to."""
    return aged(Path(storages[alias].path(name)), seconds, b"left by a dead process")


def test_an_orphaned_old_image_is_deleted_and_irreplaceable_files_stay(world: World) -> None:
    image, young = stored("images", "image/old.tar"), stored("images", "image/young.tar", WEEK - 60)
    upload_part = stored("gold", "pieces/upload/0")
    kept_files = [stored(alias, f"kept/{alias}.jsonl") for alias in orphaned_files.STORED_FOLDERS]
    output = tidy("--apply", "--verbosity", "2")
    assert not image.exists() and young.exists() and upload_part.exists()
    assert all(path.exists() for path in kept_files), (
        "gold, raw files, inputs, predictions and outcomes are never removed"
    )
    assert "images and archives without a record: 1, 0.0 MB\n  images/image/old.tar: 22 bytes" in output
    assert "stored files without a record, not removed: 4, 0.0 MB" in output
    assert "  gold/kept/gold.jsonl: 22 bytes" in output and "pieces" not in output
    assert "young" not in output, "its row may be on its way"


def test_files_that_killed_processes_did_not_complete_are_deleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many they are. They have the names that the storage gives them."""
    storage = storages["predictions"]

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("leaderboard.core.storage.file_move_safe", killed)
        for index in range(orphaned_files.MANY + 1):
            with pytest.raises(KeyboardInterrupt):
                storage.save(f"prediction/{index}.jsonl", ContentFile(b"half"))
    partial = [*Path(storage.path("prediction")).glob("*.jsonl.*")]
    for path in partial:
        os.utime(path, (time.time() - WEEK - 60,) * 2)
    young = stored("predictions", f"prediction/7.jsonl.{'0' * 32}.partial", WEEK - 60)
    named_so = stored("predictions", "prediction/by a user.partial")
    tidy("--apply")
    assert len(partial) == orphaned_files.MANY + 1 and not any(path.exists() for path in partial)
    assert young.exists() and named_so.exists()


def test_with_another_database_no_stored_file_is_deleted(world: World, tmp_path: Path, settings: Any) -> None:
    """The site's files with an empty or older database."""
    run = world.insert_run()
    mail = aged(tmp_path / "mail" / "a.log", MONTH + 60)
    image = stored("images", "image/old.tar")
    others = [stored("gold", f"goldversion/{index}.jsonl") for index in range(orphaned_files.MANY)]
    tidy()
    others.append(stored("gold", "goldversion/last.jsonl", 0))
    with pytest.raises(CommandError) as refused:
        tidy("--apply")
    message = str(refused.value)
    assert message.startswith("6 of 7 files of gold have no record in ") and message.endswith(
        "No stored file is removed"
    )
    assert orphaned_files.database() in message and str(settings.DATA) in message
    assert (
        image.exists()
        and all(path.exists() for path in others)
        and run.prediction.file.storage.exists(run.prediction.file.name)
    )
    assert not mail.exists(), "what is no stored file goes as ever"
    with pytest.raises(CommandError, match="6 of 7 files of gold have no record"):
        call_command("check_files", stdout=io.StringIO())


def test_a_few_orphans_among_many_files_are_deleted(world: World) -> None:
    for index in range(6):
        stored("images", f"image/{index}.tar")
    names = [stored("images", f"image/named-{index}.tar") for index in range(54)]
    for path in names:
        sha256 = hashlib.sha256(path.name.encode()).hexdigest()
        Image.objects.create(archive=f"image/{path.name}", archive_sha256=sha256, archive_bytes=22)
    assert not orphaned_files.find().doubt
    tidy("--apply")
    assert not Path(storages["images"].path("image/0.tar")).exists() and all(path.exists() for path in names)
    for index in range(7):
        stored("images", f"image/{index}.tar")
    assert "7 of 61 files of images" in orphaned_files.find().doubt


def test_files_of_records_are_intact_after_tidying(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orphaned_files, "AFTER", timedelta(0))
    run = world.insert_run()
    tidy("--apply")
    for file in (world.gold.file, world.split.inputs, run.prediction.file):
        assert file.storage.exists(str(file.name))
    stored("outcomes", "run/stray", 0)
    out = io.StringIO()
    call_command("check_files", stdout=out)
    assert out.getvalue() == "outcomes/run/stray: no record\n3 files: all exist and match their sha256\n"


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("altered", "no longer matches its sha256"),
        ("missing", "is missing"),
        ("unreadable", "cannot be read: Is a directory"),
    ],
)
def test_a_file_that_differs_from_its_record_is_named(world: World, harm: str, message: str) -> None:
    path = Path(world.gold.file.path)
    if harm == "altered":
        path.write_bytes(path.read_bytes() + b" ")
    else:
        path.unlink()
    if harm == "unreadable":  # root can read files of other owners
        path.mkdir()
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"1 of 2 files are missing, altered or unreadable"):
        call_command("check_files", stdout=out)
    assert out.getvalue().strip() == f"goldversion:{world.gold.pk} file: {message}"


@pytest.mark.parametrize("command", ["check_files", "cleanup"])
def test_a_missing_bucket_is_reported_in_one_line(command: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    bucket = {"bucket_name": "nowhere", "region_name": "us-east-1"}
    in_s3 = {"BACKEND": "leaderboard.core.s3_storage.PrivateS3Storage", "OPTIONS": bucket}
    settings.STORAGES = {**settings.STORAGES, **dict.fromkeys(ALIASES, in_s3)}
    with mock_aws(), pytest.raises(CommandError, match=r"does not respond correctly .*\(404\) .*HeadBucket"):
        call_command(command, stdout=io.StringIO())


def test_a_curator_is_appointed_and_removed_once(world: World) -> None:
    for arguments, state in ((["ada"], True), (["ada"], True), (["ada", "--no-longer"], False)):
        call_command("make_curator", *arguments, stdout=io.StringIO())
        world.researcher.refresh_from_db()
        assert world.researcher.is_curator is state
    acts = AuditEntry.objects.filter(action__startswith="curator.").order_by("id")
    assert [act.action for act in acts] == ["curator.appointed", "curator.dismissed"]
    with pytest.raises(CommandError, match="unknown account 'nobody'"):
        call_command("make_curator", "nobody")
