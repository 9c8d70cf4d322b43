"""Archives on the management pages: exports are written by a worker for their requester, imports are previewed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.archives.actions import encryption, exports, imports, reading, writing
from leaderboard.archives.actions.errors import ArchiveError
from leaderboard.core.refusal import Code
from leaderboard.evaluation import sandbox_client
from leaderboard.models import ArchiveExport, ArchiveImport, AuditEntry, Benchmark, Dataset, State, Submission, User
from tests.leaderboard.archives.test_archives import wipe
from tests.support.api_calls import person
from tests.support.rows.gold_uploads import close_all, files_of, refusal, uploaded
from tests.support.rows.tiny_world import World, build, gold_lines

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
EXPORTS = "/manage/benchmarks/tiny/exports/"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    """(secret, public)"""
    return encryption.generate_key()


def as_(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def written(world: World, recipients: str = "") -> ArchiveExport:
    export = exports.begin(benchmark=world.benchmark, recipients=recipients, by=world.curator)
    exports.WORK.run(export.pk)
    export.refresh_from_db()
    return export


def received(world: World, content: bytes) -> ArchiveImport:
    return imports.receive(file=uploaded(content, "tiny.zip"), by=world.curator)


def imported(archive_import: ArchiveImport, key: str, by: User) -> ArchiveImport:
    """The row after a worker has checked it, and imported it with the key."""
    imports.WORK.run(archive_import.pk)
    archive_import.refresh_from_db()
    if archive_import.may_be_imported:
        imports.begin(archive_import=archive_import, key=key, by=by)
        imports.WORK.run(archive_import.pk)
        archive_import.refresh_from_db()
    assert archive_import.sealed_key is None and archive_import.is_over
    return archive_import


def problem_of(archive_import: ArchiveImport, key: str, by: User) -> str:
    """Why a worker rejected the archive."""
    row = imported(archive_import, key, by)
    assert (row.state, row.result) == (State.REJECTED, None)
    return "; ".join(row.problems)


def forged(archive: bytes, secret: str, change: Any) -> bytes:
    """The archive with changed members in its closed part, encrypted to the same key."""
    buffer = io.BytesIO()
    identities = encryption.identities([secret])
    with zipfile.ZipFile(io.BytesIO(archive)) as outer, zipfile.ZipFile(buffer, "w") as other:
        for name in outer.namelist():
            if name != writing.CLOSED:
                other.writestr(name, outer.read(name))
        clear = io.BytesIO()
        with (
            outer.open(writing.CLOSED) as sealed,
            encryption.decrypted_reader(sealed, identities) as opened,
            zipfile.ZipFile(opened) as inner,
            zipfile.ZipFile(clear, "w") as changed,
        ):
            for name in inner.namelist():
                changed.writestr(name, change(name, inner.read(name)))
        with (
            other.open(writing.CLOSED, "w") as target,
            encryption.encrypted_writer(target, [identities[0].to_public()]) as stream,
        ):
            stream.write(clear.getvalue())
    return buffer.getvalue()


class TestExport:
    def test_a_worker_writes_it_and_reports_progress(self, world: World, keys: tuple[str, str]) -> None:
        world.insert_run(state=State.CANCELLED, finished_at=timezone.now())
        export = written(world, keys[1])
        assert export.state == State.DONE
        content = export.file.open().read()
        assert (export.bytes, len(export.progress) > 5) == (len(content), True)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            head = json.loads(archive.read(writing.HEAD))
            everything = b"".join(archive.read(name) for name in archive.namelist())
        assert (head["slug"], head["rows"]["submission"]) == ("tiny", 1)
        assert b"SUPPORTS" not in everything, "gold is only in the closed part"
        assert not any("SUPPORTS" in line or "ada" in line for line in export.progress)

    def test_a_passphrase_is_long_and_typed_twice(self, world: World) -> None:
        client, phrase = as_(world.curator), "correct horse battery"
        for sent, name in (
            ({"passphrase": "short", "repeated": "short"}, "passphrase"),
            ({"passphrase": phrase, "repeated": phrase + "!"}, "repeated"),
        ):
            refused = client.post(EXPORTS, sent)
            assert refused.status_code == 422 and list(refused.context["form"].errors) == [name]
            assert phrase not in refused.content.decode()
        assert not ArchiveExport.objects.exists()

    @pytest.mark.slow  # age's scrypt takes a second, by design
    def test_a_passphrase_opens_it_and_is_stored_nowhere(self, world: World, caplog: Any) -> None:
        client, phrase = as_(world.curator), "correct horse battery"
        assert client.post(EXPORTS, {"passphrase": phrase, "repeated": phrase}).status_code == 302
        export = ArchiveExport.objects.get()
        exports.WORK.run(export.pk)
        export.refresh_from_db()
        assert "with a passphrase" in client.get(EXPORTS).content.decode()
        content = export.file.open().read()
        stored = json.dumps(list(AuditEntry.objects.values_list("detail", flat=True))) + export.recipients + caplog.text
        assert phrase not in stored and phrase.encode() not in content + bytes(export.protected_key)
        wipe()
        curator = person("cora", is_curator=True)
        row = imports.receive(file=uploaded(content, "tiny.zip"), by=curator)
        assert "not the archive's passphrase" in problem_of(row, "wrong horse battery", curator)
        assert not Benchmark.objects.exists()
        assert imported(row, phrase, curator).result["slug"] == "tiny"

    def test_a_worker_makes_the_key_of_a_passphrase(
        self, world: World, keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made_with: list[str] = []

        def generate(passphrase: str) -> tuple[bytes, str]:
            made_with.append(passphrase)
            return b"protected", keys[1]

        monkeypatch.setattr(encryption, "generate_protected_key", generate)
        phrase = "correct horse battery"
        export = exports.begin(benchmark=world.benchmark, recipients="", by=world.curator, passphrase=phrase)
        assert made_with == [] and phrase.encode() not in bytes(export.sealed_passphrase or b"")
        exports.WORK.run(export.pk)
        export.refresh_from_db()
        assert (export.state, made_with) == (State.DONE, [phrase])
        assert (bytes(export.protected_key), export.recipients, export.sealed_passphrase) == (
            b"protected",
            keys[1],
            None,
        )

    def test_a_passphrase_is_forgotten_when_the_export_fails(
        self, world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
    ) -> None:
        def broken(_: str) -> None:
            raise RuntimeError

        settings.MAX_ATTEMPTS = 2
        monkeypatch.setattr(encryption, "generate_protected_key", broken)
        export = exports.begin(
            benchmark=world.benchmark, recipients="", by=world.curator, passphrase="correct horse battery"
        )
        states = []
        for _ in range(2):
            exports.WORK.run(export.pk)
            export.refresh_from_db()
            states.append((export.state, export.sealed_passphrase is None))
        assert states == [(State.QUEUED, False), (State.FAILED, True)], "another attempt needs it"

    def test_without_a_key_the_closed_part_is_left_out(self, world: World) -> None:
        with zipfile.ZipFile(written(world).file.open()) as archive:
            assert writing.CLOSED not in archive.namelist()

    def test_only_public_keys_are_accepted(self, world: World, keys: tuple[str, str]) -> None:
        for wrong in ("age1nonsense", keys[0]):
            refused = refusal(exports.begin, benchmark=world.benchmark, recipients=wrong, by=world.curator)
            assert (refused.code, keys[0] in refused.message) == (Code.INVALID_VALUE, False)
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        refused = refusal(exports.begin, benchmark=world.benchmark, recipients="", by=organiser)
        assert refused.code is Code.NOT_AN_ORGANISER
        assert not ArchiveExport.objects.exists()

    def test_only_the_requester_downloads_it_and_the_download_is_recorded(
        self, world: World, keys: tuple[str, str]
    ) -> None:
        client = as_(world.curator)
        assert client.post(EXPORTS, {"recipients": keys[1]}).status_code == 302
        export = ArchiveExport.objects.get()
        exports.WORK.run(export.pk)
        assert "Download" in client.get(EXPORTS).content.decode()
        answer = client.post(f"{EXPORTS}{export.pk}/download/")
        assert b"".join(answer.streaming_content)[:2] == b"PK"  # type: ignore[attr-defined]
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["X-Content-Type-Options"] == "nosniff"
        other = as_(person("cora", is_curator=True))
        assert other.post(f"{EXPORTS}{export.pk}/download/").status_code == 404
        assert "Download" not in other.get(EXPORTS).content.decode()
        acts = AuditEntry.objects.filter(action__startswith="export.").order_by("pk")
        assert [(act.action, act.actor) for act in acts] == [
            ("export.asked", world.curator),
            ("export.downloaded", world.curator),
        ]

    def test_it_is_stored_for_a_day(self, world: World) -> None:
        export = written(world)
        file = export.file
        exports.WORK.sweep()
        assert file.storage.exists(str(file.name))
        ArchiveExport.objects.update(finished_at=timezone.now() - timedelta(days=1, minutes=1))
        exports.WORK.sweep()
        assert not ArchiveExport.objects.exists()
        assert not file.storage.exists(str(file.name))

    def test_after_a_worker_dies_the_next_one_writes_it(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        def dies(**_: Any) -> None:
            raise sandbox_client.SandboxError("gone")

        files_before = files_of("archives")
        with monkeypatch.context() as broken:
            broken.setattr(writing, "write", dies)
            export = written(world)
            assert export.state == State.QUEUED
            past = timezone.now() - timedelta(hours=1)
            ArchiveExport.objects.update(state=State.RUNNING, lease_until=past, enqueued_at=past)
            assert exports.WORK.sweep() == 1
        assert files_of("archives") == files_before
        exports.WORK.run(export.pk)
        export.refresh_from_db()
        assert (export.state, export.attempt) == (State.DONE, 2)

    def test_a_cancelled_export_leaves_no_file(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        files_before, write = files_of("archives"), writing.write

        def cancelled_meanwhile(**kwargs: Any) -> Path:
            path = write(**kwargs)
            exports.remove(export=ArchiveExport.objects.get(), by=world.curator)
            return path

        monkeypatch.setattr(writing, "write", cancelled_meanwhile)
        export = exports.begin(benchmark=world.benchmark, recipients="", by=world.curator)
        exports.WORK.run(export.pk)
        assert not ArchiveExport.objects.exists()
        assert files_of("archives") == files_before
        assert not [path for path in settings.FILE_UPLOAD_TEMP_DIR.iterdir() if path.is_dir()]

    def test_requesting_twice_gives_one_export(self, world: World) -> None:
        request = {"benchmark": world.benchmark, "recipients": "", "by": world.curator}
        assert exports.begin(**request).pk == exports.begin(**request).pk


class TestImport:
    def test_it_is_previewed_and_then_imported(self, world: World, keys: tuple[str, str]) -> None:
        world.insert_run(state=State.CANCELLED, finished_at=timezone.now())
        content = written(world, keys[1]).file.open().read()
        wipe()
        curator = person("cora", is_curator=True)
        client = as_(curator)
        answer = client.post("/manage/archives/", {"file": SimpleUploadedFile("tiny.zip", content)})
        archive_import = ArchiveImport.objects.get()
        assert answer["Location"] == f"/manage/archives/{archive_import.pk}/"
        assert "Check in progress" in client.get(answer["Location"]).content.decode()
        imports.WORK.run(archive_import.pk)
        page = client.get(answer["Location"]).content.decode()
        assert "Tiny claims" in page and "inputs/test.jsonl" in page and "Conflicts" not in page
        assert "becomes <em>name</em>-2" in page, "shown before the key is entered"
        assert not Benchmark.objects.exists(), "nothing is imported before its key is entered"
        wrong = client.post(answer["Location"], {"key": encryption.generate_key()[0]})
        assert wrong.status_code == 302
        assert "Import in progress" in client.get(answer["Location"]).content.decode()
        imports.WORK.run(archive_import.pk)
        page = client.get(answer["Location"]).content.decode()
        assert "the key cannot be used" in page and not Benchmark.objects.exists()
        client.post(answer["Location"], {"key": keys[0]})
        imports.WORK.run(archive_import.pk)
        state = client.get(f"{answer['Location']}state/")
        assert state["HX-Refresh"] == "true"
        assert "/manage/benchmarks/tiny/" in client.get(answer["Location"]).content.decode()
        assert Submission.objects.count() == 1
        archive_import.refresh_from_db()
        assert (archive_import.result["slug"], archive_import.sealed_key, archive_import.file.name) == (
            "tiny",
            None,
            "",
        )
        assert AuditEntry.objects.get(action="benchmark.imported").actor == curator

    def test_renamed_people_are_shown_on_the_page_and_recorded_in_the_trail(
        self, world: World, keys: tuple[str, str]
    ) -> None:
        world.insert_run(state=State.CANCELLED, finished_at=timezone.now())
        content = written(world, keys[1]).file.open().read()
        wipe()
        User.objects.create_user("ada", "another@holdout.example", "correct horse")
        curator = person("cora", is_curator=True)
        client = as_(curator)
        answer = client.post("/manage/archives/", {"file": SimpleUploadedFile("tiny.zip", content)})
        imported(ArchiveImport.objects.get(), keys[0], curator)
        page = client.get(answer["Location"]).content.decode()
        assert "<bdi>ada</bdi> is now <bdi>ada-2</bdi>" in page and "The audit trail lists all of them." in page
        assert User.objects.get(username="ada-2").email == "ada@holdout.example"
        trail = client.get("/manage/benchmarks/tiny/audit-trail/").content.decode()
        assert "{&quot;ada&quot;: &quot;ada-2&quot;}" in trail

    def test_without_renamed_people_the_page_does_not_mention_them(self, world: World, keys: tuple[str, str]) -> None:
        world.insert_run(state=State.CANCELLED, finished_at=timezone.now())
        content = written(world, keys[1]).file.open().read()
        wipe()
        curator = person("cora", is_curator=True)
        client = as_(curator)
        answer = client.post("/manage/archives/", {"file": SimpleUploadedFile("tiny.zip", content)})
        imported(ArchiveImport.objects.get(), keys[0], curator)
        page = client.get(answer["Location"]).content.decode()
        assert "was imported unchanged" in page and "Renamed accounts" not in page

    def test_the_key_is_shown_nowhere(self, world: World, keys: tuple[str, str], caplog: Any) -> None:
        archive_import = received(world, written(world, keys[1]).file.open().read())
        imports.WORK.run(archive_import.pk)
        client, page = as_(world.curator), f"/manage/archives/{archive_import.pk}/"
        Benchmark.objects.update(slug="other")
        assert client.post(page, {"key": keys[0]}).status_code == 302
        stored = ArchiveImport.objects.get().sealed_key
        assert stored and keys[0].encode() not in bytes(stored)
        imports.WORK.run(archive_import.pk)
        row = ArchiveImport.objects.get()
        assert (row.state, row.sealed_key) == (State.REJECTED, None)
        shown = client.get(page).content.decode() + json.dumps([row.problems, row.progress])
        assert keys[0] not in shown and keys[0] not in caplog.text
        assert not any(keys[0] in json.dumps(entry.detail) for entry in AuditEntry.objects.all())

    def test_existing_rows_are_named(self, world: World, keys: tuple[str, str]) -> None:
        archive_import = received(world, written(world, keys[1]).file.open().read())
        assert imports.find_conflicts(archive_import) == [
            "the benchmark tiny already exists on this server",
            "the dataset tiny already exists on this server",
        ]
        assert problem_of(archive_import, keys[0], world.curator) == "the dataset tiny already exists on this server"
        assert Dataset.objects.count() == 1

    @pytest.mark.parametrize("content", [b"", b"PK", gold_lines(), b"PK\x05\x06" + bytes(18)])
    def test_a_file_that_is_no_archive_is_not_stored(self, world: World, content: bytes) -> None:
        files_before = files_of("archives")
        assert refusal(received, world=world, content=content).code is Code.INVALID_ARCHIVE
        assert files_of("archives") == files_before and not ArchiveImport.objects.exists()

    @pytest.mark.parametrize("right", ["is_superuser", "is_staff", "is_curator", "password"])
    def test_no_archive_grants_rights_to_anybody(self, world: World, keys: tuple[str, str], right: str) -> None:
        def more(name: str, body: bytes) -> bytes:
            if name != "tables/user.jsonl":
                return body
            rows = [json.loads(line) for line in body.splitlines()]
            for row in rows:
                row["fields"][right] = True
            return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

        content = forged(written(world, keys[1]).file.open().read(), keys[0], more)
        wipe()
        curator = person("cora", is_curator=True)
        archive_import = imports.receive(file=uploaded(content, "tiny.zip"), by=curator)
        assert right in problem_of(archive_import, keys[0], curator)
        assert User.objects.count() == 1

    def test_a_line_for_another_table_is_refused(self, world: World, keys: tuple[str, str]) -> None:
        world.insert_run(state=State.CANCELLED, finished_at=timezone.now())

        def other(name: str, body: bytes) -> bytes:
            return body.replace(b"leaderboard.team", b"leaderboard.user") if name == "tables/team.jsonl" else body

        content = forged(written(world, keys[1]).file.open().read(), keys[0], other)
        wipe()
        curator = person("cora", is_curator=True)
        archive_import = imports.receive(file=uploaded(content, "tiny.zip"), by=curator)
        assert (
            "tables/team.jsonl, line 1: the row is of the model 'leaderboard.user'; expected 'leaderboard.team'"
            in problem_of(archive_import, keys[0], curator)
        )

    @pytest.mark.parametrize("missing", ["tables/split.jsonl", "tables/benchmark.jsonl"])
    def test_an_incomplete_closed_part_changes_nothing(self, world: World, keys: tuple[str, str], missing: str) -> None:
        content = forged(
            written(world, keys[1]).file.open().read(), keys[0], lambda name, body: b"{" if name == missing else body
        )
        wipe()
        curator = person("cora", is_curator=True)
        archive_import = imports.receive(file=uploaded(content, "tiny.zip"), by=curator)
        assert f"{missing}, line 1: this is not a row in JSON" in problem_of(archive_import, keys[0], curator)
        assert not Dataset.objects.exists()

    def test_only_curators_import(self, world: World) -> None:
        content = written(world).file.open().read()
        refused = refusal(imports.receive, file=uploaded(content, "tiny.zip"), by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER

    def test_an_unused_upload_is_removed_after_a_day(self, world: World) -> None:
        archive_import = received(world, written(world).file.open().read())
        imports.WORK.sweep()
        assert ArchiveImport.objects.exists()
        ArchiveImport.objects.update(at=timezone.now() - timedelta(days=1, minutes=1))
        imports.WORK.sweep()
        assert not ArchiveImport.objects.exists()
        assert not archive_import.file.storage.exists(str(archive_import.file.name))

    def test_an_oversized_header_is_not_read(self, world: World) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(writing.HEAD, b'{"slug": "' + b"a" * (64 << 20) + b'"}')
        with pytest.raises(ArchiveError):
            reading.read_head(buffer)


def test_a_secret_key_among_public_ones_is_not_shown_again(world: World) -> None:
    secret, public = encryption.generate_key()
    client = as_(world.curator)
    answer = client.post(EXPORTS, {"recipients": f"{public}\n{secret.lower()}"})
    page = answer.content.decode()
    assert answer.status_code == 422 and "This is a secret key" in page
    assert secret.lower() not in page.lower() and not ArchiveExport.objects.exists()
    response = client.post(EXPORTS, {"recipients": "age1wrong"})
    assert "age1wrong" in response.content.decode(), "input that is no secret stays for correction"
