"""An S3 store that hangs, refuses or breaks off: requests get 503, work waits, nothing is charged or left behind."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import filesystem, storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.core import db_locks, storage, store_errors
from leaderboard.core.s3_storage import PrivateS3Storage
from leaderboard.core.storage import PrivateFileStorage, opened
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.curation.actions import raw_files
from leaderboard.models import QuotaCharge, RawFile, Run, State, Submission
from leaderboard.scoring.actions import runs
from tests.support.api_calls import ROOT, client_of, error_of, footprint, send
from tests.support.faulty_store import (
    KEYS,
    Fault,
    FaultyStore,
    faulty_store,
    forget_checks,
    s3_server,
    use_store,
)
from tests.support.rows.tiny_world import World, build, prediction_lines

INPUTS = "/benchmarks/tiny/splits/test/inputs.jsonl"
PAGE = "/benchmarks/tiny/test/submit/"
TOKEN = "a-token-that-is-long-enough"
AWAY = {"code": "store_unavailable", "message": store_errors.AWAY}
BROKEN = [Fault.HANG, Fault.REFUSE, Fault.UNAVAILABLE]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def store(server: str, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStore]:
    cache.clear()
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with faulty_store(server) as store:
        use_store(store, monkeypatch, settings)
        yield store


@pytest.fixture
def world(store: FaultyStore, sandbox: str) -> World:
    return build()


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


def is_check(line: str) -> bool:
    return line.startswith("HEAD /files HTTP") or line.startswith("HEAD /gold HTTP")


def all_but(*methods: str) -> Any:
    return lambda line: not line.startswith(methods)


def check_away(answer: Any) -> None:
    assert (answer.status_code, answer.get("Retry-After")) == (503, str(db_locks.RETRY_AFTER))
    if answer["Content-Type"] == "application/problem+json":
        assert error_of(answer) == AWAY
    else:
        assert store_errors.AWAY in answer.content.decode().replace("&#x27;", "'")


@pytest.mark.parametrize("fault", BROKEN)
def test_an_upload_to_a_store_that_is_away(
    world: World, ada: Client, store: FaultyStore, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, keys = footprint(), store.keys()
    forget_checks(monkeypatch)
    store.breaks(fault)
    del store.seen[:]
    check_away(send(ada, prediction_lines()))
    assert len(store.seen) == 1, "only the quick check waits"
    page = Client(raise_request_exception=False)
    page.force_login(world.researcher)
    check_away(page.post(PAGE, {"system": world.system.pk, "file": SimpleUploadedFile("p.jsonl", prediction_lines())}))
    assert len(store.seen) == 1, "the store is known to be away"
    store.breaks(Fault.NONE)
    assert (footprint(), store.keys()) == (before, keys)
    forget_checks(monkeypatch)
    assert send(ada, prediction_lines()).status_code == 201


@pytest.mark.parametrize("fault", [*BROKEN, Fault.LOST])
def test_a_store_that_fails_while_the_file_is_stored(
    world: World, ada: Client, store: FaultyStore, fault: Fault
) -> None:
    before, keys, asked = footprint(), store.keys(), len(store.seen)
    store.breaks(fault, spares=all_but("PUT"))
    check_away(send(ada, prediction_lines()))
    assert (footprint(), store.keys()) == (before, keys)
    assert not QuotaCharge.objects.exists() and not Submission.objects.exists()
    made = len(store.seen)
    assert sum(line.startswith("PUT") for line in store.seen[asked:]) == 2, "one request and its repetition"
    check_away(send(ada, prediction_lines()))
    assert (len(store.seen) == made) == (fault in (Fault.HANG, Fault.LOST)), "the store is away once it was waited for"


def test_a_file_that_cannot_be_read_to_its_end_is_never_called_invalid(
    world: World, ada: Client, store: FaultyStore
) -> None:
    before = footprint()
    store.breaks(Fault.CUT, spares=all_but("GET"))
    check_away(send(ada, prediction_lines()))
    assert footprint() == before


def test_a_download(world: World, ada: Client, store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Client(raise_request_exception=False)
    store.breaks(Fault.CUT, spares=all_but("GET"))
    for client, address in ((page, INPUTS), (ada, f"{ROOT}{INPUTS}")):
        check_away(client.get(address))
    store.breaks(Fault.NONE)
    forget_checks(monkeypatch)
    for client, address in ((page, INPUTS), (ada, f"{ROOT}{INPUTS}")):
        assert b"claim" in b"".join(client.get(address).streaming_content)  # type: ignore[arg-type]


def test_a_management_page_that_reads_gold(world: World, store: FaultyStore) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(world.curator)
    address = f"/manage/benchmarks/tiny/splits/test/gold/{world.gold.number}/"
    store.breaks(Fault.CUT, spares=all_but("GET"))
    check_away(client.get(address))


def test_half_a_file_is_never_read_as_the_whole(world: World, store: FaultyStore) -> None:
    """Opened again, the same object downloads the file again."""
    store.breaks(Fault.CUT, spares=all_but("GET"))
    for _ in range(2):
        with pytest.raises(StoreUnavailableError), opened(world.gold.file):
            pass
    store.breaks(Fault.NONE)
    with opened(world.gold.file) as file:
        assert file.read().count(b"\n") == 4


@pytest.mark.parametrize("fault", [Fault.REFUSE, Fault.UNAVAILABLE, Fault.LOST])
def test_no_part_of_a_large_file_is_left(world: World, store: FaultyStore, fault: Fault) -> None:
    keys = store.keys()
    store.breaks(fault, spares=lambda line: "partNumber=2" not in line)
    with pytest.raises(StoreUnavailableError):
        storages["predictions"].save("large", ContentFile(b"x" * 20_000_000))
    client = storages["predictions"].connection.meta.client  # type: ignore[attr-defined]
    assert not client.list_multipart_uploads(Bucket="files").get("Uploads")
    assert store.keys() == keys


@pytest.mark.parametrize("spares", [lambda line: False, all_but("GET")], ids=["away", "fails"])
@pytest.mark.parametrize("fault", BROKEN)
def test_a_run_waits_for_the_store(
    world: World, store: FaultyStore, fault: Fault, spares: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = world.insert_run()
    store.breaks(fault, spares=spares)
    forget_checks(monkeypatch)
    for _ in range(5):
        runs.WORK.run(run.pk)
    run.refresh_from_db()
    used = 0 if not spares("HEAD") or fault is Fault.HANG else 2
    assert (run.state, run.attempt) == (State.QUEUED, used), "the last attempt is left"
    store.breaks(Fault.NONE)
    forget_checks(monkeypatch)
    runs.WORK.run(run.pk)
    assert Run.objects.get().state == State.DONE and QuotaCharge.objects.get().refunded_at is None


def test_a_deletion_after_the_commit_does_not_fail_the_request(
    world: World, store: FaultyStore, django_capture_on_commit_callbacks: Any
) -> None:
    raw = raw_files.add(dataset=world.split.dataset, file=SimpleUploadedFile("raw.tsv", b"a\tb\n"), by=world.curator)
    store.breaks(Fault.UNAVAILABLE, spares=all_but("DELETE"))
    with django_capture_on_commit_callbacks(execute=True):
        raw_files.remove(raw=raw, by=world.curator)
    assert not RawFile.objects.exists()


@pytest.mark.parametrize("fault", BROKEN)
def test_readiness_and_metrics_report_the_store(
    world: World, store: FaultyStore, fault: Fault, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert Client().get("/health/ready").json()["store"] is True
    assert "holdout_store_up 1.0" in metrics() and errors_of("check") == 0
    forget_checks(monkeypatch)
    store.breaks(fault)
    answers = [Client().get("/health/ready") for _ in range(3)]
    assert {(answer.status_code, answer.json()["store"]) for answer in answers} == {(503, False)}
    assert all(answers[0].json()[name] for name in ("database", "broker", "sandbox", "disk"))
    assert "holdout_store_up 0.0" in metrics() and errors_of("check") == 1, "one check for all probes"


def metrics() -> str:
    return Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()


def errors_of(operation: str) -> float:
    (line,) = [line for line in metrics().splitlines() if f'store_errors_total{{operation="{operation}"}}' in line]
    return float(line.rpartition(" ")[2])


def test_errors_are_counted_by_operation(store: FaultyStore) -> None:
    storages["predictions"].save("kept", ContentFile(b"text"))
    store.breaks(Fault.UNAVAILABLE, spares=is_check)
    for act in (storages["predictions"].open, storages["predictions"].delete, storages["predictions"].exists):
        with pytest.raises(StoreUnavailableError):
            act("kept")
    counted = {operation: count for operation, count in store_errors.counts().items() if count}
    assert counted == {"open": 1, "delete": 1, "exists": 1}


def test_a_missing_file_is_no_error_of_the_store(store: FaultyStore) -> None:
    with pytest.raises(FileNotFoundError):
        storages["predictions"].open("absent")
    assert not any(store_errors.counts().values())


def test_a_cache_that_is_away_does_not_hide_the_error(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(store_errors.cache, "add", fail)
    store.breaks(Fault.UNAVAILABLE)
    with pytest.raises(StoreUnavailableError):
        storages["predictions"].open("kept")


def test_a_missing_bucket_is_reported(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storages["gold"], "bucket_name", "absent")
    with pytest.raises(StoreUnavailableError):
        storage.check_stores()
    assert store_errors.counts()["check"] == 1


def test_timeouts_and_retries_of_the_client() -> None:
    s3 = PrivateS3Storage(bucket_name="files", seconds=3)
    config: Config = s3.client_config
    assert (config.connect_timeout, config.read_timeout) == (3, 3)
    assert config.retries == {"mode": "standard", "total_max_attempts": 2}
    assert s3.transfer_config.num_download_attempts == 1


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EROFS])
def test_a_local_disk_that_fails(
    db: None, sandbox: str, number: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's own disk is broken, or cannot be written, which the operator may mend meanwhile."""
    cache.clear()
    world = build()
    ada, before = client_of(world.researcher), footprint()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(filesystem, "file_move_safe", fail)
        answer = send(ada, prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (
        (500, "server_error") if number == errno.EIO else (503, "store_unavailable")
    )
    assert footprint() == before
    assert store_errors.counts()["save"] == 1
    assert "store_failed" in caplog.text and errno.errorcode[number] in caplog.text


def test_a_local_file_that_cannot_be_read(db: None, tmp_path: Path) -> None:
    cache.clear()
    # The kernel answers a read of this file at offset 0 with EIO.
    with Path("/proc/self/mem").open("rb", buffering=0) as damaged, pytest.raises(OSError, match="Input/output error"):
        storage.check_digest(damaged, "0" * 64)
    assert store_errors.counts()["read"] == 1


def test_a_local_folder_that_is_read_only_is_not_ready(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = PrivateFileStorage(location=tmp_path / "absent" / "files")
    local.check()
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(PermissionError):
        local.check()


def test_a_scored_run_makes_three_requests_to_the_store(
    store: FaultyStore, world: World, settings: Any, tmp_path: Path
) -> None:
    """The names of new files are not looked up before. Gold and inputs are local after the first run."""
    settings.FILE_CACHE, settings.FILE_CACHE_BYTES = tmp_path, 1_000_000
    for _ in range(2):
        before = len(store.seen)
        world.submit()
        runs.WORK.run(Run.objects.get(state=State.QUEUED).pk)
    requests = [line.split("?")[0].rsplit(" ", 1)[0] for line in store.seen[before:]]
    assert [line.split()[0] for line in requests] == ["PUT", "GET", "PUT"], requests
    assert Run.objects.filter(state=State.DONE).count() == 2
    assert len(list(tmp_path.iterdir())) == 2
