"""Hosts that start no containers: drained, ending, or with a full disk; without an engine."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from structlog.testing import capture_logs

from leaderboard.containers.actions import engine, image_cache, placement, run_system, workers
from leaderboard.evaluation.container_limits import Resources
from leaderboard.management.commands import drain
from leaderboard.models import AuditEntry, Placement, Prediction, Reason, State, User, WorkerReport
from leaderboard.work_queue import worker_status
from leaderboard.work_queue.lease import LeaseLostError
from tests.support.rows import container_rows, tiny_world
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db(transaction=True)


class FakeEngine:
    """An engine as `engine` describes one, with images by id and their bytes, on a disk of `disk` bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, disk: int | None = None) -> None:
        self.held: dict[str, int] = {}
        self.tagged: set[str] = set()
        self.disk = disk
        for name in ("images", "forget", "disk_free_bytes"):
            monkeypatch.setattr(engine, name, getattr(self, name))
        monkeypatch.setattr(engine, "health_check", dict)
        monkeypatch.setattr(engine, "offer", lambda: Resources(cpus=4, memory_bytes=10**10))
        monkeypatch.setattr(engine, "check", lambda: None)
        monkeypatch.setattr(engine, "reap", lambda *, keep: [])

    def images(self) -> frozenset[str]:
        return frozenset(self.held)

    def forget(self, image: str) -> bool:
        return image not in self.tagged and self.held.pop(image, None) is not None

    def disk_free_bytes(self) -> int | None:
        return None if self.disk is None else self.disk - sum(self.held.values())


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("socket.gethostname", lambda: "one")
    world = tiny_world.build()
    container_rows.takes_images(world)
    return world


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def used(world: World, number: int, *, ago: int, size: int = 100, **changes: Any) -> Prediction:
    """Insert a prediction of an image of `size` bytes that ended on this host `ago` seconds ago."""
    at = timezone.now() - timedelta(seconds=ago)
    prediction = container_rows.insert(world, **{"state": State.REJECTED, **changes})
    image = prediction.submission.image
    assert image is not None
    image.digest, image.unpacked_bytes = digest(number), size
    image.save()
    worker = WorkerReport.objects.get_or_create(queue="systems", host="one", defaults={"ready": True, "seen_at": at})[0]
    Placement.objects.create(
        prediction=prediction, worker=worker, team=world.system.team, image=image, resources={}, claimed_at=at
    )
    if prediction.finished_at:
        Prediction.objects.filter(pk=prediction.pk).update(finished_at=at)
    return prediction


# --- the cache of images


def test_images_stay_until_there_is_no_space_and_the_least_recently_used_goes(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    here = FakeEngine(monkeypatch)
    settings.IMAGE_CACHE_BYTES = 300
    for number, ago in ((1, 30), (2, 50), (3, 10)):
        used(world, number, ago=ago)
        here.held[digest(number)] = 100
    assert workers.report().images == {digest(1): 100, digest(2): 100, digest(3): 100}
    with capture_logs() as logs:
        assert image_cache.make_room(needed_bytes=150).keys() == {digest(3)}
    assert [entry["image"] for entry in logs if entry["event"] == "image_evicted"] == [digest(2), digest(1)]
    settings.IMAGE_CACHE_BYTES = 0
    assert workers.report().images == here.held == {}


def test_an_image_in_use_is_never_removed(world: World, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    here = FakeEngine(monkeypatch)
    settings.IMAGE_CACHE_BYTES = 0
    used(world, 1, ago=3600, state=State.RUNNING)
    used(world, 2, ago=1)
    here.held = {digest(1): 100, digest(2): 100}
    assert workers.report().images.keys() == here.held.keys() == {digest(1)}


def test_images_of_others_are_neither_counted_nor_removed(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    here = FakeEngine(monkeypatch)
    settings.IMAGE_CACHE_BYTES = 150
    used(world, 1, ago=60)
    used(world, 2, ago=30)
    here.held = {digest(1): 100, digest(2): 100, digest(9): 10**9}
    here.tagged = {digest(1)}
    assert image_cache.make_room().keys() == {digest(2)}
    assert here.held.keys() == {digest(1), digest(2), digest(9)}


def test_the_engine_failing_to_remove_an_image_is_logged(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    here = FakeEngine(monkeypatch)
    settings.IMAGE_CACHE_BYTES = 0
    used(world, 1, ago=60)
    here.held = {digest(1): 100}

    def fail(image: str) -> bool:
        raise engine.SandboxError("the engine has a fault")

    monkeypatch.setattr(engine, "forget", fail)
    with capture_logs() as logs:
        assert workers.report().ready
    assert [entry["event"] for entry in logs] == ["image_removal_failed"]


# --- the engine's disk


def test_below_the_floor_images_go_and_then_nothing_is_started(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any, sandbox: str
) -> None:
    here = FakeEngine(monkeypatch, disk=1_000_000_000)
    settings.ENGINE_DISK_BYTES = 900_000_000
    used(world, 1, ago=60)
    here.held = {digest(1): 150_000_000}
    assert workers.report().ready and here.held == {}
    here.disk = 800_000_000
    prediction = container_rows.insert(world)
    WorkerReport.objects.update(checked_at=None)
    with capture_logs() as logs:
        run_system.WORK.run(prediction.pk)
    assert ("engine_disk_low", 800, 900) in [
        (entry["event"], entry.get("free_mb"), entry.get("floor_mb")) for entry in logs
    ]
    prediction.refresh_from_db()
    assert (prediction.state, prediction.attempt) == (State.QUEUED, 0)
    report = WorkerReport.objects.get()
    assert (report.ready, report.disk_low, report.disk_free_bytes) == (False, True, 800_000_000)
    assert "800 MB left, expected 900 MB or more" in report.message
    assert "800 MB left" in page(world) and ">not ready<" in page(world)
    here.disk = 1_000_000_000
    assert workers.ready() and not WorkerReport.objects.get().disk_low


@pytest.mark.parametrize(
    ("address", "folder", "is_known"),
    [("", "", True), ("unix:///run/docker.sock", "", True), ("tcp://there:2376", "", False), ("tcp://a:1", "/", True)],
)
def test_the_disk_of_an_engine_elsewhere_is_not_guessed(
    monkeypatch: pytest.MonkeyPatch, settings: Any, address: str, folder: str, is_known: bool
) -> None:
    class Engine:
        root_folder = "/"

    monkeypatch.setenv("DOCKER_HOST", address)
    monkeypatch.setattr(engine, "sandbox", Engine)
    settings.ENGINE_DISK = folder
    assert (engine.disk_free_bytes() is not None) == is_known


# --- draining


def session_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(world: World) -> str:
    return str(session_of(world.curator).get("/manage/workers/").content.decode())


def command(*arguments: str) -> str:
    output = io.StringIO()
    call_command("drain", *arguments, stdout=output)
    return output.getvalue().strip()


def test_a_drained_host_finishes_what_runs_and_starts_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeEngine(monkeypatch)
    worker = workers.report()
    first, second = container_rows.insert(world), container_rows.insert(world)
    lease = run_system.WORK.claim(first.pk)
    assert lease is not None
    with capture_logs() as logs:
        assert command("one") == "one is draining: 1 still running"
        assert ">draining<" in page(world)
        assert run_system.WORK.claim(second.pk) is None
        assert lease.renew(), "what runs goes on"
        assert not worker_status.of().ready and "restarted" in worker_status.of().why_not
        lease.finish(state=State.REJECTED, reason=Reason.SYSTEM_EXIT)
        assert workers.report().ready and workers.report().draining, "a new report does not end it"
    assert [entry["event"] for entry in logs] == ["worker_draining", "worker_drained"]
    assert ">drained<" in page(world)
    assert command("one") == "one is drained"
    assert command("one", "--resume") == "one starts containers"
    assert run_system.WORK.claim(second.pk) is not None
    entries = AuditEntry.objects.order_by("pk").filter(subject=f"workerreport:{worker.pk}")
    assert list(entries.values_list("action", flat=True)) == ["worker.draining", "worker.resumed"]


def test_the_command_waits_until_nothing_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeEngine(monkeypatch)
    workers.report()
    lease = run_system.WORK.claim(container_rows.insert(world).pk)
    assert lease is not None
    monkeypatch.setattr(drain.time, "sleep", lambda _: lease.finish(state=State.REJECTED, reason=Reason.SYSTEM_EXIT))
    assert command("one", "--wait") == "one is drained"


def test_the_command_names_the_hosts_that_it_knows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeEngine(monkeypatch)
    workers.report()
    with pytest.raises(CommandError, match=r"unknown host 'two'.*: one"):
        command("two")


def test_a_curator_drains_a_host_on_its_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeEngine(monkeypatch)
    worker = workers.report()
    address, curator = f"/manage/workers/{worker.pk}/drain/", session_of(world.curator)
    assert address in page(world)
    assert session_of(world.researcher).post(address).status_code == 404
    assert Client().post(address).status_code == 302 and not WorkerReport.objects.get().draining
    assert "starts no more containers" in curator.post(address, follow=True).content.decode()
    assert WorkerReport.objects.get().draining
    assert AuditEntry.objects.get(action="worker.draining").actor == world.curator
    curator.post(address, {"resume": "on"})
    assert not WorkerReport.objects.get().draining


def test_what_still_runs_when_a_worker_ends_goes_to_the_front(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    FakeEngine(monkeypatch)
    settings.DRAIN_SECONDS = 0
    workers.report()
    rows = [container_rows.insert(world) for _ in range(3)]
    leases = [run_system.WORK.claim(rows[0].pk) for _ in range(2)]
    last, again = (lease for lease in leases if lease is not None)
    Prediction.objects.filter(pk=last.row.pk).update(attempt=settings.MAX_ATTEMPTS)
    run_system.end_soon()
    assert workers.report().ending, "a report of one of its processes does not end that"
    assert run_system.WORK.claim(rows[0].pk) is None, "a process of it may still have a message"
    assert not worker_status.of().ready and ">ending<" in page(world)
    assert Prediction.objects.get(pk=last.row.pk).state == State.RUNNING, "no other attempt could follow"
    row = Prediction.objects.get(pk=again.row.pk)
    assert (row.state, row.reason, row.attempt) == (State.QUEUED, Reason.LOST, 1)
    with pytest.raises(LeaseLostError):
        again.write(stage="collecting")
    monkeypatch.setattr("socket.gethostname", lambda: "two")
    workers.report()
    elsewhere = run_system.WORK.claim(row.pk)
    assert elsewhere is not None and (elsewhere.row.pk, elsewhere.attempt) == (row.pk, 2)
    assert placement.running_on("two").count() == 1
    monkeypatch.setattr("socket.gethostname", lambda: "one")
    workers.set_ending(False)
    assert run_system.WORK.claim(rows[0].pk) is not None, "another worker has started there"
