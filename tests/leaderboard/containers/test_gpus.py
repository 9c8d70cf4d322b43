"""Phases that ask for GPUs, and workers that offer them. The engine and nvidia-smi are fakes: no GPU is used."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.archives.actions.manifest_of import manifest_of
from leaderboard.benchmarks.manifest import PhasePart, convert
from leaderboard.containers.actions import engine, images, run_system, workers
from leaderboard.core.refusal import Code, Refused
from leaderboard.hosting import host
from leaderboard.models import Phase, Prediction, State, WorkerReport
from leaderboard.operations import processes
from leaderboard.work_queue import worker_status
from tests.evaluator.sandbox.containers.fake_nvidia_smi import FakeNvidiaSmi
from tests.leaderboard.benchmarks.test_manage_pages import client_of as session_of
from tests.leaderboard.containers.test_manage_containers import DESK, phase_form
from tests.support.api_calls import client_of, fixed_text
from tests.support.rows import tiny_world
from tests.support.rows.container_rows import engine_is_there, insert, ran, takes_images
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db


world, _django_db_helper = shared_states(world=tiny_world.build)


@pytest.fixture
def curator(world: World) -> Client:
    return session_of(world.curator)


@pytest.fixture
def ada(world: World) -> Client:
    return session_of(world.researcher)


def text(response: Any) -> str:
    """Return the words of a page, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())


def offer(n: int = 2, memory_gb: int = 24, **changes: Any) -> WorkerReport:
    return engine_is_there(**{"queue": "systems-gpu", "gpus": n, "gpu_memory_gb": memory_gb, **changes})


@pytest.mark.parametrize("asked", [{"gpus": 17}, {"gpu_memory_gb": 24}])
def test_the_database_refuses_impossible_requests(world: World, asked: dict[str, int]) -> None:
    with pytest.raises(IntegrityError, match="phase_gpus_in_range"), transaction.atomic():
        Phase.objects.update(**asked)


@pytest.mark.parametrize(
    ("offers", "asked", "why_not"),
    [
        ([], (1, 0), "No worker can run this: it needs 1 GPU. No worker with GPUs has reported."),
        (
            [(1, 80), (4, 24)],
            (2, 40),
            "No worker can run this: it needs 2 GPUs of 40 GB each; the largest worker offers 4 GPUs of 24 GB each.",
        ),
        ([(1, 24)], (2, 0), "No worker can run this: it needs 2 GPUs; the largest worker offers 1 GPU of 24 GB."),
        ([(1, 80), (4, 24)], (1, 80), ""),
        ([(1, 80), (4, 24)], (4, 24), ""),
    ],
)
def test_why_no_worker_serves_a_phase(
    world: World, offers: list[tuple[int, int]], asked: tuple[int, int], why_not: str
) -> None:
    for index, gpus in enumerate(offers):
        offer(*gpus, host=f"host-{index}")
    assert worker_status.why_no_gpus(*asked) == why_not
    takes_images(world, gpus=asked[0], gpu_memory_gb=asked[1])
    assert worker_status.of_phase(world.phase).ready == (not why_not)


@pytest.mark.parametrize("changes", [{"ready": False}, {"seen_at": timezone.now() - timedelta(hours=1)}])
def test_a_worker_that_is_away_serves_nobody(world: World, changes: dict[str, Any]) -> None:
    offer(**changes)
    assert "No worker with GPUs" in worker_status.why_no_gpus(1, 0)


def test_the_form_warns_of_gpus_that_nobody_has(world: World, curator: Client) -> None:
    offer(1, 24)
    url = f"{DESK}phases/create/?kind=full"
    assert "Workers offer 1 GPU of 24 GB." in text(curator.get(url))
    asked = phase_form(world, gpus="2", gpu_memory_gb="40")
    refused = curator.post(url, asked)
    assert refused.status_code == 422 and read(refused.content.decode()).faults == []
    assert "it needs 2 GPUs of 40 GB each; the largest worker offers 1 GPU of 24 GB" in text(refused)
    assert not Phase.objects.filter(slug="boxes").exists()
    assert curator.post(url, {**asked, "without_gpus": "on"}).status_code == 302
    phase = Phase.objects.get(slug="boxes")
    assert (phase.gpus, phase.gpu_memory_gb, phase.limits) == (2, 40, {})
    page = curator.get(DESK)
    assert read(page.content.decode()).faults == []
    assert "Images cannot be submitted to Boxes No worker can run this" in text(page)
    WorkerReport.objects.update(gpus=2, gpu_memory_gb=40)
    assert "No worker can run this" not in text(curator.get(DESK))


def test_a_phase_without_gpus_is_added_as_before(world: World, curator: Client) -> None:
    page = curator.get(f"{DESK}phases/create/?kind=full")
    assert "without_gpus" not in page.content.decode()
    assert curator.post(f"{DESK}phases/create/", phase_form(world, gpus="", gpu_memory_gb="")).status_code == 302
    phase = Phase.objects.get(slug="boxes")
    assert (phase.gpus, phase.gpu_memory_gb) == (0, 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"gpus": "17"}, "less than or equal to 16"),
        ({"gpu_memory_gb": "24"}, "none is asked for"),
        ({"gpus": "1", "takes_images": "", "takes_predictions": "on"}, "GPUs are for images, which are not accepted"),
        ({"gpus": "1", "cpus": "1", "takes_images": "", "takes_predictions": "on"}, "Limits are set, but images"),
    ],
)
def test_impossible_requests_are_refused(world: World, curator: Client, asked: dict[str, str], message: str) -> None:
    offer()
    response = curator.post(f"{DESK}phases/create/", phase_form(world, **asked))
    assert response.status_code == 422
    assert message in text(response), response.context["form"].errors


def test_senders_are_told_that_nobody_can_serve_the_phase(world: World, ada: Client) -> None:
    offer(1, 24)
    engine_is_there()
    takes_images(world, gpus=2)
    url = reverse("submit_image", args=["tiny", "test"])
    page = ada.get(url)
    assert "No worker can run this: it needs 2 GPUs; the largest worker offers 1 GPU of 24 GB." in text(page)
    assert "Upload and submit" not in text(page)
    with pytest.raises(Refused, match="No worker can run this") as refused:
        images.check_takes_images(world.phase)
    assert refused.value.code is Code.ENGINE_UNAVAILABLE
    phase = Client().get("/api/v1/benchmarks/tiny/").json()["phases"][0]
    assert phase["images_run"] is False
    assert (phase["limits"]["gpus"], phase["limits"]["gpu_memory_gb"]) == (2, 0)
    WorkerReport.objects.filter(queue="systems-gpu").update(gpus=2)
    assert "Upload and submit" in text(ada.get(url))


NOW = timezone.now()


def minutes_ago(n: float) -> Any:
    return NOW - timedelta(minutes=n)


def test_the_wait_is_estimated_from_the_last_containers_of_the_queue(world: World, ada: Client) -> None:
    takes_images(world, gpus=1)
    offer(host="a")
    offer(host="b")
    assert worker_status.wait_in("systems-gpu") == worker_status.Wait(0, None)
    for took in (10, 20):
        insert(world, state=State.DONE, with_file=True, started_at=minutes_ago(60), finished_at=minutes_ago(60 - took))
    assert worker_status.wait_in("systems-gpu") == worker_status.Wait(0, 1), "both workers are free"
    for _ in range(2):
        insert(world, state=State.RUNNING)
    waiting = [insert(world, queued_at=minutes_ago(5 - i)) for i in range(4)]
    # 3 ahead, and 2 that run and are half done, of 15 minutes each, on 2 workers
    team = world.system.team.pk
    assert worker_status.wait_in("systems-gpu", team=team, before=waiting[3].queued_at) == worker_status.Wait(3, 30)
    assert worker_status.wait_in("systems-gpu", team=team).ahead == 4
    assert worker_status.wait_in("systems-gpu").ahead == 1, "teams take turns"
    assert worker_status.wait_in("systems") == worker_status.Wait(0, None)
    submission = ada.get(f"/submissions/{waiting[3].submission_id}/")
    assert "3 ahead in the queue. Estimated wait: at most 30 min." in text(submission)
    body = client_of(world.researcher).get(f"/api/v1/submissions/{waiting[3].submission_id}/").json()
    assert (body["queue_position"], body["wait_minutes"]) == (3, 30)
    Prediction.objects.filter(state=State.RUNNING).update(state=State.QUEUED, lease_until=None)
    WorkerReport.objects.update(ready=False)
    assert worker_status.wait_in("systems-gpu").minutes is None, "no worker is ready"


@pytest.mark.parametrize(("minutes", "shown"), [(None, "unknown"), (20, "at most 20 min"), (180, "about 3 h")])
def test_waits_in_words(minutes: int | None, shown: str) -> None:
    assert shown in worker_status.Wait(1, minutes).text


def test_containers_with_and_without_gpus_wait_in_queues_of_their_own(world: World) -> None:
    takes_images(world, gpus=1)
    assert worker_status.queue_of(world.phase) == "systems-gpu"
    insert(world)
    assert (worker_status.wait_in("systems-gpu").ahead, worker_status.wait_in("systems").ahead) == (1, 0)


class FakeSandbox:
    """A sandbox that records what it was asked for, instead of a container engine and GPUs."""

    def __init__(self, gpus: engine.Gpus) -> None:
        self.gpus = gpus
        self.processors = 4.0
        self.memory_bytes = 16_000_000_000
        self.root_folder = ""

    def layers(self) -> dict[str, Any]:
        return {"runtime": "runc"}

    def reap(self, **_: Any) -> list[str]:
        return []

    def images(self) -> frozenset[str]:
        return frozenset()


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> FakeSandbox:
    settings.GPUS = "all"
    fake = FakeSandbox(engine.Gpus("all", command=FakeNvidiaSmi(tmp_path).command))
    monkeypatch.setattr(engine, "sandbox", lambda: fake)
    return fake


def test_a_worker_reports_its_gpus(sandbox: FakeSandbox) -> None:
    report = workers.report(queue="systems-gpu")
    assert (report.ready, report.gpus, report.gpu_memory_gb) == (True, 2, 24), report.message
    assert report.detail["gpus"] == "NVIDIA H100 80GB HBM3, NVIDIA L4"
    report = workers.report(queue="systems")
    assert (report.ready, report.gpus, report.gpu_memory_gb) == (True, 0, 0)


def test_a_worker_whose_gpus_fail_is_not_ready(sandbox: FakeSandbox, settings: Any) -> None:
    workers.report(queue="systems-gpu")
    sandbox.gpus = engine.Gpus("all", command=("sh", "-c", "echo no driver >&2; exit 9"))
    report = workers.report(queue="systems-gpu")
    assert (report.ready, report.gpus, report.gpu_memory_gb) == (False, 0, 0)
    assert "no driver" in report.message
    sandbox.gpus = engine.Gpus("none", command=("true",))
    settings.GPUS = ""
    assert "HOLDOUT_GPUS=all" in workers.report(queue="systems-gpu").message


@pytest.mark.parametrize(("gpus", "memory_gb", "claimed"), [(2, 24, True), (3, 24, False), (2, 25, False)])
def test_only_a_worker_with_free_gpus_claims(
    world: World, sandbox: FakeSandbox, gpus: int, memory_gb: int, claimed: bool
) -> None:
    takes_images(world, gpus=gpus, gpu_memory_gb=memory_gb)
    workers.report(queue="systems-gpu")
    key = insert(world, enqueued_at=timezone.now()).pk
    assert (run_system.WORK.claim(key) is not None) is claimed
    insert(world, enqueued_at=timezone.now())
    assert run_system.WORK.claim(key) is None, "the first has all of them"


def test_gpus_that_others_have_use_up_no_attempt(world: World, sandbox: FakeSandbox) -> None:
    """The attempt that found them reserved is given back, even if it was the last."""
    takes_images(world, gpus=1)
    workers.report(queue="systems-gpu")
    prediction = insert(world, enqueued_at=timezone.now())
    Prediction.objects.update(attempt=2)
    lease = run_system.WORK.claim(prediction.pk)
    assert lease is not None and lease.attempt == 3
    outcome = next(found for kinds, found in run_system.WORK.errors.items() if kinds is engine.GpusBusyError)
    assert not run_system.WORK.retry_or_fail(lease, reason=outcome.reason, passes=outcome.passes)
    prediction.refresh_from_db()
    assert (prediction.state, prediction.attempt) == (State.QUEUED, 2)
    kinds = list(run_system.WORK.errors)
    assert kinds.index(engine.GpusBusyError) < kinds.index(engine.SandboxError), "the first that fits counts"


def test_the_process_reads_only_its_queue() -> None:
    command = processes.command("systems-gpu", bind="")
    assert command[command.index("--queues") + 1] == "systems-gpu"
    assert "systems-gpu" in processes.ROLES


SPENT = {"gpu_seconds": 40.0, "peak_gpu_memory_bytes": 5_000_000_000}


def test_the_cost_of_gpus_is_shown_to_the_team(world: World, ada: Client) -> None:
    takes_images(world, gpus=1)
    fields = ran()
    with_gpus = insert(world, state=State.DONE, with_file=True, **{**fields, "cost": {**fields["cost"], **SPENT}})
    page = text(ada.get(f"/submissions/{with_gpus.submission_id}/"))
    assert "GPU time 45.3 s" in page and "Peak GPU memory 5,790 MB" in page
    cost = client_of(world.researcher).get(f"/api/v1/submissions/{with_gpus.submission_id}/").json()["cost"]
    assert (cost["gpu_seconds"], cost["gpu_memory_mb"]) == (45.3, 5790.0)
    without = insert(world, state=State.DONE, with_file=True, **fields)
    assert "GPU" not in fixed_text(text(ada.get(f"/submissions/{without.submission_id}/"))).split("Limits")[0]
    cost = client_of(world.researcher).get(f"/api/v1/submissions/{without.submission_id}/").json()["cost"]
    assert list(cost) == ["wall_seconds", "cpu_seconds", "memory_mb", "image_mb"]


PHASE = {"slug": "p", "title": "P", "split": "test"}


def manifest(**phase: Any) -> Any:
    return convert(
        {
            "slug": "b",
            "title": "B",
            "task": "fact-verification",
            "summary": "s",
            "splits": [{"name": "test", "kind": "test", "gold": "gold.jsonl"}],
            "phases": [{**PHASE, **phase}],
        }
    )


def test_a_manifest_without_gpus_stays_as_it_was() -> None:
    part = manifest().phases[0]
    assert (part.gpus, part.gpu_memory_gb) == (0, 0)
    assert msgspec.to_builtins(part) == PHASE
    asked = {"gpus": 2, "gpu_memory_gb": 80}
    assert msgspec.to_builtins(manifest(**asked).phases[0]) == {**PHASE, **asked}


def test_gpus_go_into_archives(world: World) -> None:
    takes_images(world, gpus=2, gpu_memory_gb=24)
    part = manifest_of(world.benchmark).phases[0]
    assert (part.gpus, part.gpu_memory_gb) == (2, 24)


@pytest.mark.parametrize("asked", [{"gpus": 17}, {"gpus": -1}, {"gpus": 1.5}, {"gpu_memory_gb": 8}])
def test_invalid_gpus_in_a_manifest(asked: dict[str, Any]) -> None:
    with pytest.raises(host.ManifestError):
        manifest(**asked)


def test_gpus_may_change_after_hosting() -> None:
    """They are no part of a hosted benchmark's digest, like the other limits of containers."""
    assert {*PhasePart.__struct_fields__} > {"gpus", "gpu_memory_gb"} and {"gpus", "gpu_memory_gb"} < {*host.LATER}
