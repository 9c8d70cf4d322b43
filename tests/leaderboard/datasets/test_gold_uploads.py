"""Gold as large as predictions that are validated later: a worker checks it, not the request."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.core.refusal import Code, Refused
from leaderboard.datasets.actions import gold_tables, gold_uploads
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Correction, GoldUpload, GoldVersion, Reason, Split, State
from tests.support.rows.corrected_gold import CORRECTED
from tests.support.rows.tiny_world import DRAFT, World, build, gold_lines, uploaded

PAGE = "/manage/benchmarks/tiny/splits/test/gold/"
INVALID = gold_lines().replace(b"SUPPORTS", b"MAYBE")


@pytest.fixture
def world(transactional_db: None, sandbox: str, settings: Any) -> World:
    settings.VALIDATE_NOW_BYTES = 10
    return build()


@pytest.fixture
def curator(world: World) -> Client:
    client = Client()
    client.force_login(world.curator)
    return client


def post(client: Client, content: bytes, **fields: str) -> Any:
    return client.post(PAGE, {"file": SimpleUploadedFile("fixed.jsonl", content), **fields})


def check() -> GoldUpload:
    upload = GoldUpload.objects.get()
    gold_uploads.WORK.run(upload.pk)
    upload.refresh_from_db()
    return upload


def test_the_request_does_not_check_large_gold(world: World, curator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        for name in ("prepare_gold", "read_table"):
            patched.setattr(sandbox_client, name, lambda *_, **__: pytest.fail("the request checks the gold"))
        assert post(curator, gold_lines(CORRECTED)).status_code == 302
    assert "waits to be checked" in curator.get(PAGE).content.decode() and not Correction.objects.exists()
    upload = check()
    correction = Correction.objects.get()
    assert (upload.state, upload.correction, str(upload.file)) == (State.DONE, correction, "")
    assert correction.created_by == world.curator and "waits to be checked" not in curator.get(PAGE).content.decode()


def test_large_gold_of_a_draft_becomes_its_next_version(world: World, curator: Client) -> None:
    Split.objects.update(**DRAFT)
    assert post(curator, gold_lines(CORRECTED), reason="Three labels were wrong.").status_code == 302
    assert GoldVersion.objects.count() == 1
    upload = check()
    gold = GoldVersion.objects.get(number=2)
    assert (upload.gold, gold.reason, gold.created_by) == (gold, "Three labels were wrong.", world.curator)
    gold_uploads.WORK.run(upload.pk)  # a message that was delivered twice
    assert GoldVersion.objects.count() == 2


def test_problems_of_large_gold_are_shown_on_its_page(world: World, curator: Client) -> None:
    post(curator, INVALID)
    upload = check()
    assert (upload.state, upload.reason, str(upload.file)) == (State.REJECTED, Reason.BAD_GOLD, "")
    page = curator.get(PAGE).content.decode()
    assert upload.problems[0]["line"] == 1 and "gold" in upload.message
    assert "Nothing was stored." in page and "problems-box" in page


def test_the_check_is_repeated_while_the_sandbox_is_away(
    world: World, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(curator, gold_lines(CORRECTED))
    with monkeypatch.context() as patched:

        def away(*_: Any, **__: Any) -> Any:
            raise sandbox_client.SandboxError("no sandbox answers")

        patched.setattr(sandbox_client, "prepare_gold", away)
        assert check().state == State.QUEUED
    assert check().state == State.DONE


def test_one_file_of_a_split_is_checked_at_a_time(world: World, curator: Client) -> None:
    post(curator, gold_lines(CORRECTED))
    refused = post(curator, INVALID)
    assert refused.status_code == 409 and "Another gold file" in refused.content.decode()
    with pytest.raises(Refused) as unchanged:
        gold_uploads.queue(split=world.split, file=uploaded(gold_lines()), reason="", by=world.curator)
    assert unchanged.value.code is Code.GOLD_UNCHANGED


def test_a_new_split_gets_its_large_gold_later(world: World, curator: Client) -> None:
    form = {"name": "dev", "kind": "dev", "file": SimpleUploadedFile("dev.jsonl", gold_lines(CORRECTED))}
    answer = curator.post("/manage/benchmarks/tiny/splits/create/", form, follow=True)
    assert "its gold is large, and is being checked" in answer.content.decode()
    split = Split.objects.get(name="dev")
    assert not split.inputs and check().gold == split.gold_versions.get()
    split.refresh_from_db()
    assert split.inputs


def test_compressed_files_count_as_larger(settings: Any) -> None:
    settings.VALIDATE_NOW_BYTES = 1000
    names = ("a.jsonl", "a.csv", "a.jsonl.gz", "a.csv.GZ", "a.xlsx", "A.XLSX", "a.parquet")
    large = [name for name in names if gold_tables.is_large(SimpleUploadedFile(name, b"x" * 500))]
    assert large == ["a.jsonl.gz", "a.csv.GZ", "a.xlsx", "A.XLSX", "a.parquet"]


@pytest.mark.parametrize(("n_bytes", "seconds"), [(100, 10), (101, 60)])
def test_large_tables_get_the_time_of_background_work(
    world: World, settings: Any, monkeypatch: pytest.MonkeyPatch, n_bytes: int, seconds: int
) -> None:
    settings.VALIDATE_NOW_BYTES, settings.VALIDATE_SECONDS, settings.SCORE_SECONDS = 1000, 10, 60
    limits: list[float] = []

    def ask(request: Any, descriptors: Any, seconds: float, **_: Any) -> Any:
        limits.append(seconds)
        raise sandbox_client.SandboxError("it is away")

    monkeypatch.setattr(sandbox_client, "_ask", ask)
    file = uploaded(b"x" * n_bytes, "gold.xlsx")
    with pytest.raises(Refused):
        gold_tables.as_json_lines(split=world.split, file=file, by=world.curator)
    assert limits == [seconds]
