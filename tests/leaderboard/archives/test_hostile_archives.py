"""Whole archives written by hand: none takes over what is here, and none costs more than its limits."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pyrage
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection

from leaderboard.archives.actions import encryption, imports, inserting, preparing
from leaderboard.core.refusal import Code
from leaderboard.models import ArchiveImport, Benchmark, Dataset, Membership, State, Team, User
from tests.leaderboard.archives.test_archive_pages import as_, problem_of
from tests.support.api_calls import person
from tests.support.rows.archive_files import (
    KEY,
    PUBLIC,
    SECRET,
    archive_with,
    closed_part,
    overlapping,
    row,
    zipped,
)
from tests.support.rows.gold_uploads import close_all, files_of, refusal, uploaded
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
EVE = row(User, username="eve", email="eve@holdout.example")


@pytest.fixture
def world() -> World:
    return build()


def command(archive: bytes, folder: Path) -> None:
    """Import an archive as an operator does."""
    (folder / "x.zip").write_bytes(archive)
    (folder / "key.txt").write_text(SECRET)
    call_command("import_archive", folder / "x.zip", "--key", folder / "key.txt", stdout=io.StringIO())


@pytest.mark.parametrize("target", ["team", "dataset"])
def test_an_archive_takes_over_nothing_that_is_here(world: World, tmp_path: Path, target: str) -> None:
    """A membership of a stranger's team, or a benchmark on a stranger's dataset: gold would be read next."""
    team, dataset = world.system.team, world.benchmark.dataset
    mine: dict[Any, Any] = {User: [EVE]}
    if target == "team":
        mine |= {Membership: [row(Membership, team=team.pk, is_owner=True)], Dataset: [row(Dataset)]}
    key = dataset.pk if target == "dataset" else KEY
    mine[Benchmark] = [row(Benchmark, dataset=key, organisers=[KEY], baselines_team=None, facts=[])]
    with pytest.raises(CommandError) as refused:
        command(archive_with(closed_part(mine)), tmp_path)
    table, field = ("membership", "team") if target == "team" else ("benchmark", "dataset")
    there = f"tables/{table}.jsonl, line 1: {field} is {team.pk if target == 'team' else dataset.pk}, but the archive's"
    assert there in str(refused.value)
    assert not Membership.objects.filter(team=team, user__username="eve").exists()
    assert not dataset.benchmarks.exclude(pk=world.benchmark.pk).exists()
    assert not User.objects.filter(username="eve").exists()


def test_rows_that_the_database_refuses_are_named_and_nothing_is_stored(world: World, tmp_path: Path) -> None:
    rows = {
        User: [EVE],
        Team: [row(Team, name="Eves")],
        Membership: [row(Membership), row(Membership, KEY + 1)],
        Dataset: [row(Dataset)],
        Benchmark: [row(Benchmark, facts=[])],
    }
    with pytest.raises(CommandError, match=r"tables/membership\.jsonl, line 2: the row does not fit"):
        command(archive_with(closed_part(rows)), tmp_path)
    assert not Team.objects.filter(name="Eves").exists() and not User.objects.filter(username="eve").exists()


def test_the_manifest_that_was_shown_is_the_one_that_is_imported(world: World, tmp_path: Path) -> None:
    rows = {User: [EVE], Dataset: [row(Dataset)], Benchmark: [row(Benchmark, facts=[], baselines_team=None)]}
    with pytest.raises(CommandError, match=r"the imported benchmark\.json would differ"):
        command(archive_with(closed_part(rows)), tmp_path)
    assert not Benchmark.objects.filter(slug="x").exists()


def test_rows_are_checked_before_the_transaction_that_writes_them(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite lets one transaction write at a time, so that others would wait for the whole import."""
    read, insert = preparing._Preparation.read, inserting.insert
    during: dict[str, set[bool]] = {"read": set(), "insert": set()}

    def noting(name: str, function: Any) -> Any:
        def noted(*args: Any) -> Any:
            during[name].add(connection.in_atomic_block)
            return function(*args)

        return noted

    monkeypatch.setattr(preparing._Preparation, "read", noting("read", read))
    monkeypatch.setattr(inserting, "insert", noting("insert", insert))
    rows = {User: [EVE], Dataset: [row(Dataset)], Benchmark: [row(Benchmark, facts=[], baselines_team=None)]}
    with pytest.raises(CommandError):
        command(archive_with(closed_part(rows)), tmp_path)
    assert during == {"read": {False}, "insert": {True}}


def with_table(name: str, content: bytes | None) -> bytes:
    """An archive in whose closed part a table has another content, or is missing."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(closed_part({}))) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.namelist():
            if member != f"tables/{name}.jsonl":
                new.writestr(member, old.read(member))
            elif content is not None:
                new.writestr(member, content)
    return archive_with(buffer.getvalue())


def recut(end: int | None) -> bytes:
    """An archive whose encrypted part ends early, or has another byte (None), in a ZIP file that fits it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive_with(bytes(200_000)))) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "closed.zip.age":
                content = content[:end] if end else content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
            new.writestr(member, content)
    return buffer.getvalue()


def archive_for(n: int) -> bytes:
    """An archive whose closed part is encrypted to n keys: each is tried."""
    buffer, sealed = io.BytesIO(), io.BytesIO()
    pyrage.encrypt_io(io.BytesIO(b"x"), sealed, encryption.recipients([PUBLIC]) * n)
    with zipfile.ZipFile(io.BytesIO(archive_with(b""))) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.namelist():
            new.writestr(member, sealed.getvalue() if member == "closed.zip.age" else old.read(member))
    return buffer.getvalue()


DAMAGED = {
    "not json": (lambda: with_table("team", b"\x00\xff"), "tables/team.jsonl, line 1"),
    "a list": (lambda: with_table("team", b"[1]\n"), "tables/team.jsonl, line 1"),
    "a number": (lambda: with_table("team", b"\n7\n"), "tables/team.jsonl, line 1"),
    "deep": (lambda: with_table("team", b"[" * 100_000), "tables/team.jsonl, line 1"),
    "no model": (lambda: with_table("user", b"{}\n"), "tables/user.jsonl, line 1"),
    "fields are a list": (lambda: with_table("user", b'{"model": "x", "pk": 1, "fields": []}\n'), "tables/user.jsonl"),
    "no table": (lambda: with_table("score", None), "tables/score.jsonl is not in the archive"),
    "cut off": (lambda: recut(-100), "the encrypted part is cut off"),
    "a byte altered": (lambda: recut(None), "the encrypted part is cut off, or was altered"),
    "keys without end": (lambda: archive_for(encryption.MOST_KEYS + 1), "a header for more than 100 keys"),
    "no zip inside": (lambda: archive_with(b"no zip"), "the encrypted part is not a ZIP file"),
    "a bomb inside": (lambda: archive_with(overlapping(200)), "in the encrypted part overlap"),
    "no closed part": (lambda: archive_with(b"", closed="other.age"), "other.age"),
    "other format": (lambda: archive_with(b"", format="x"), "format is x"),
    "no head": (zipped, "it has no file archive.json"),
    "head is no object": (lambda: zipped(filename="archive.json", content=b"[]"), "its file archive.json is invalid"),
    "readable is a list": (lambda: archive_with(b"", readable=[]), "its file archive.json is invalid"),
    "title with a NUL": (lambda: archive_with(b"", title="a\0b"), "contains a control character, U+0000"),
    "title turned round": (lambda: archive_with(b"", title="a\u202eb"), "contains a control character, U+202E"),
    "title too long": (lambda: archive_with(b"", title="t" * 100_000), "Ensure this value has at most"),
    "slug is a path": (lambda: archive_with(b"", slug="../x"), "Enter a valid"),
    "no time zone": (lambda: archive_with(b"", written_at="2026-01-01T00:00:00"), "written_at has no time zone"),
    "a far time": (lambda: archive_with(b"", written_at="9999-12-31T23:59:59-14:00"), "archive.json is invalid"),
    "a path with a NUL": (lambda: archive_with(b"", readable={"boards/\0": "0"}), "is no name of a file"),
    "rows below none": (lambda: archive_with(b"", rows={"user": -1}), "archive.json is invalid"),
    "a long layout": (lambda: archive_with(b"", layout="x" * 100_000), "the database migration"),
    "rows is text": (lambda: archive_with(b"", rows={"x": "y"}), "its file archive.json is invalid"),
    "no members named": (lambda: archive_with(b"", readable={"boards/x": "0"}), "boards/x is not in the archive"),
    "bad key": (lambda: archive_with(b"", protected_key=b"x"), "the key cannot be used"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_archive_is_refused_with_the_place(world: World, kind: str) -> None:
    content, expected = DAMAGED[kind]
    client, before = as_(world.curator), files_of("archives")
    answer = client.post("/manage/archives/", {"file": SimpleUploadedFile("x.zip", content())})
    assert answer.status_code in (302, 422)
    if answer.status_code == 422:
        assert expected in answer.content.decode().replace("&#x27;", "'") and files_of("archives") == before
        return
    secret = "a passphrase of many letters" if kind == "bad key" else SECRET
    assert expected in problem_of(ArchiveImport.objects.get(), secret, world.curator)
    page = client.get(answer["Location"])
    assert page.status_code == 200 and "The archive was not imported" in page.content.decode()
    assert not Benchmark.objects.exclude(pk=world.benchmark.pk).exists()
    close_all()


def test_no_worker_reads_an_archive_twice_at_once(world: World) -> None:
    row_ = imports.receive(file=uploaded(archive_with(b""), "x.zip"), by=world.curator)
    refused = refusal(imports.begin, archive_import=row_, key=SECRET, by=world.curator)
    assert refused.code is Code.NOT_READY, "it is not checked yet"
    imports.WORK.run(row_.pk)
    imports.begin(archive_import=row_, key=SECRET, by=world.curator)
    assert refusal(imports.begin, archive_import=row_, key=SECRET, by=world.curator).code is Code.NOT_READY
    close_all()


def test_the_key_is_forgotten_when_the_import_fails(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    def broken(**_: Any) -> None:
        raise RuntimeError

    settings.MAX_ATTEMPTS = 1
    monkeypatch.setattr(imports.reading, "import_contents", broken)
    row_ = imports.receive(file=uploaded(archive_with(b""), "x.zip"), by=world.curator)
    imports.WORK.run(row_.pk)
    imports.begin(archive_import=row_, key=SECRET, by=person("cora", is_curator=True))
    imports.WORK.run(row_.pk)
    row_.refresh_from_db()
    assert (row_.state, row_.sealed_key, row_.may_be_imported) == (State.FAILED, None, True)
    assert "Enter the key again" in as_(world.curator).get(f"/manage/archives/{row_.pk}/").content.decode()
    close_all()
