"""`tidy` removes what nobody needs and nothing else; `check_files` names what is not as its record says."""

from __future__ import annotations

import io
import os
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

from leaderboard.actions import tidying
from leaderboard.models import AuditEntry
from tests.world import World, build

pytestmark = pytest.mark.django_db
MONTH = 30 * 86_400


@pytest.fixture
def world(tmp_path: Path, settings: Any) -> World:
    """A site on folders of its own; stores of files are shared."""
    settings.DATA = tmp_path
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads"
    return build()


def tidy(*words: str) -> str:
    out = io.StringIO()
    call_command("tidy", *words, stdout=out)
    return out.getvalue()


def aged(path: Path, seconds: float, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_what_is_old_goes_when_it_is_told_to_and_not_before(world: World, tmp_path: Path) -> None:
    old = [aged(tmp_path / "uploads" / "a.upload", 2 * 86_400), aged(tmp_path / "mail" / "a.log", MONTH + 60)]
    old.append(aged(tmp_path / "log" / "web.log.1", MONTH + 60))
    young = [aged(tmp_path / "uploads" / "b.upload", 60), aged(tmp_path / "mail" / "b.log", MONTH - 60)]
    young += [aged(tmp_path / "log" / "web.log", MONTH + 60)]
    said = tidy()
    assert "broken uploads: 1," in said and "mails: 1," in said and "old logs: 1," in said
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
    kept = log.read_bytes()
    assert len(kept) <= tidying.LARGE_LOG_BYTES // 10 + 10
    assert kept.endswith(b"late\nlater\n") and kept.startswith(b"early\n")


def test_sessions_and_tokens_go_when_they_have_expired(world: World) -> None:
    now = timezone.now()
    for key, days in {"past": -1, "open": 1}.items():
        Session.objects.create(session_key=key, session_data="", expire_date=now + timedelta(days=days))
        AuthToken.objects.create(user=world.researcher, expiry=timedelta(days=days))
    tidy("--apply")
    assert [one.session_key for one in Session.objects.all()] == ["open"]
    assert [token.expiry > now for token in AuthToken.objects.all()] == [True]


def test_only_an_old_file_that_no_row_names_is_a_stray(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stray = storages["gold"].save("goldversion/stray.jsonl", ContentFile(b"left by a dead process"))
    piece = storages["gold"].save("pieces/upload/0", ContentFile(b"under way"))
    aside = f"gold/{stray}"
    try:
        assert aside not in {item.name for item in tidying.strays()}, "it is young: its row may be on its way"
        monkeypatch.setattr(tidying, "STRAY_AFTER", timedelta(0))
        found = {item.name: item for item in tidying.strays()}
        assert aside in found and f"gold/{piece}" not in found
        named = {world.gold.file.name, world.split.inputs.name}
        assert not named & {name.partition("/")[2] for name in found}
        found[aside].remove()
        assert not storages["gold"].exists(stray) and storages["gold"].exists(world.gold.file.name)
    finally:
        storages["gold"].delete(stray)
        storages["gold"].delete(piece)


def test_files_that_records_name_are_whole_after_tidying(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidying, "STRAY_AFTER", timedelta(0))
    run = world.insert_run()
    # Earlier tests left files in the stores that they share with this one; they are what goes.
    tidy("--apply")
    for file in (world.gold.file, world.split.inputs, run.prediction.file):
        assert file.storage.exists(str(file.name))
    out = io.StringIO()
    call_command("check_files", stdout=out)
    assert out.getvalue() == "3 files: all are there, with their sha256\n"


@pytest.mark.parametrize(("harm", "said"), [("altered", "no longer has its sha256"), ("missing", "is missing")])
def test_a_file_that_is_not_what_its_record_says_is_named(world: World, harm: str, said: str) -> None:
    path = Path(world.gold.file.path)
    if harm == "altered":
        path.write_bytes(path.read_bytes() + b" ")
    else:
        path.unlink()
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"1 of 2 files are missing or altered"):
        call_command("check_files", stdout=out)
    assert out.getvalue().strip() == f"goldversion:{world.gold.pk} file: {said}"


def test_a_curator_is_made_and_unmade_once(world: World) -> None:
    for words, state in ((["ada"], True), (["ada"], True), (["ada", "--no-longer"], False)):
        call_command("make_curator", *words, stdout=io.StringIO())
        world.researcher.refresh_from_db()
        assert world.researcher.is_curator is state
    acts = AuditEntry.objects.filter(action__startswith="curator.").order_by("id")
    assert [act.action for act in acts] == ["curator.appointed", "curator.dismissed"]
    with pytest.raises(CommandError, match="there is no account 'nobody'"):
        call_command("make_curator", "nobody")
