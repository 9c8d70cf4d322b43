"""Requests for GPUs, as a real engine hands them on, to a fake hook of the NVIDIA runtime that records them.

No GPU is involved: the engine finds the fake `nvidia-container-runtime-hook` on its PATH, and takes it for NVIDIA's.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.gpu import Gpus, GpusBusyError
from evaluator.sandbox.contract import Verdict
from tests.container.systems.own_engine import OwnEngine, own_engine
from tests.container.systems.running import INPUTS, Systems, build
from tests.container.systems.test_faults import _give, eventually
from tests.evaluator.sandbox.containers.fake_nvidia_smi import H100, L4, FakeNvidiaSmi
from tests.support.deploy_scripts import check_gpu

pytestmark = [pytest.mark.root, pytest.mark.slow]
HOOK = """\
#!{python}
# A fake hook of the NVIDIA runtime: it records which GPUs a container was to receive, and gives it none.
import json, pathlib, sys
state = json.load(sys.stdin)
environment = json.loads(pathlib.Path(state["bundle"], "config.json").read_text())["process"]["env"]
visible = dict(line.split("=", 1) for line in environment)
with open({record!r}, "a") as record:
    record.write(visible["NVIDIA_VISIBLE_DEVICES"] + " " + visible["NVIDIA_DRIVER_CAPABILITIES"] + "\\n")
"""


@dataclass
class Fake:
    own: OwnEngine
    smi: FakeNvidiaSmi
    record: Path
    systems: Systems

    @property
    def requests(self) -> list[str]:
        return self.record.read_text().splitlines() if self.record.exists() else []

    def run(self, do: str = "copy", *, n: int = 1, image: str = "", **options: Any) -> Any:
        with self.systems.inputs.open("rb") as inputs:
            execution = self.systems.execution(do, image=image, **options)(inputs=inputs.fileno(), gpus=n)
            return self.systems.sandbox.run(execution, io.BytesIO())

    def reserved(self) -> list[str]:
        return self.own.docker("ps", "-a", "-q", "--filter", "label=holdout.part=gpu").stdout.decode().split()


@pytest.fixture
def fake(tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    commands = tmp_path / "bin"
    commands.mkdir()
    record = tmp_path / "record"
    hook = commands / "nvidia-container-runtime-hook"
    hook.write_text(HOOK.format(python=sys.executable, record=str(record)))
    hook.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    smi = FakeNvidiaSmi(tmp_path, samples=[f"{H100}, 0, 4\n{L4}, 0, 4\n", f"{H100}, 100, 70000\n{L4}, 50, 1004\n"])
    with own_engine(tmp_path) as own:
        own.start()
        _give(own, program)
        sandbox = DockerSandbox(instance="own", url=own.url, gpus=Gpus("all", command=smi.command))
        yield Fake(own, smi, record, Systems(sandbox, program, tmp_path))


def test_requests_that_reach_the_runtime(fake: Fake) -> None:
    result = fake.run("sleep", seconds=2)
    assert result.verdict is Verdict.DONE and result.gpus == ("NVIDIA L4",)
    assert fake.requests == [f"{L4} compute,utility"], "the smallest that fits, by its UUID"
    assert 0.5 < result.usage.gpu_seconds < 0.5 * result.wall_seconds + 1
    assert result.usage.peak_gpu_memory_bytes == 1000 << 20
    assert fake.run(n=2).verdict is Verdict.DONE
    assert fake.requests[1:] == [f"{L4},{H100} compute,utility"]
    assert fake.run(n=0).usage.gpu_seconds is None
    assert len(fake.requests) == 2 and fake.reserved() == []


def test_an_image_that_asks_for_all_gpus_gets_none(fake: Fake) -> None:
    image = build(f"FROM {fake.systems.image}\nENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=all\n")
    _give(fake.own, image)
    assert fake.run(n=0, image=image).verdict is Verdict.DONE
    assert fake.requests == []
    assert fake.run(image=image).verdict is Verdict.DONE
    assert fake.requests == [f"{L4} compute,utility"]


def test_two_containers_never_have_one_gpu(fake: Fake) -> None:
    done: list[Any] = []
    holders = [threading.Thread(target=lambda: done.append(fake.run("sleep", seconds=8))) for _ in range(2)]
    for holder in holders:
        holder.start()
    eventually(lambda: len(fake.requests) == 2, 60.0)
    assert not fake.systems.sandbox.has_free_gpus(1)
    with pytest.raises(GpusBusyError):
        fake.run()
    for holder in holders:
        holder.join()
    assert sorted(fake.requests) == [f"{H100} compute,utility", f"{L4} compute,utility"]
    assert [result.verdict for result in done] == [Verdict.DONE] * 2
    assert fake.systems.sandbox.has_free_gpus(2)


def test_the_gpus_of_a_killed_worker_are_freed_with_its_container(fake: Fake) -> None:
    worker = multiprocessing.get_context("fork").Process(target=lambda: fake.run("sleep", n=2, seconds=60))
    worker.start()
    eventually(lambda: len(fake.requests) == 1, 60.0)
    assert worker.pid
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    with pytest.raises(GpusBusyError):
        fake.run()
    removed = fake.systems.sandbox.reap(min_age_seconds=0)
    assert [text.split()[0] for text in removed].count("gpu") == 2
    assert fake.own.docker("ps", "-a", "-q").stdout == b""
    result = fake.run(n=2)
    assert result.verdict is Verdict.DONE and result.output_bytes == len(INPUTS)


def test_an_engine_without_the_nvidia_runtime_is_the_servers_fault(fake: Fake) -> None:
    fake.own.stop()
    (fake.record.parent / "bin/nvidia-container-runtime-hook").unlink()
    fake.own.start()
    with pytest.raises(SandboxError, match="device driver"):
        fake.run()
    assert fake.reserved() == []


def test_a_failing_hook_is_the_servers_fault_unless_the_image_requires_another_driver(fake: Fake) -> None:
    hook = fake.record.parent / "bin/nvidia-container-runtime-hook"
    hook.write_text("#!/bin/sh\necho 'nvidia-container-cli: initialization error: driver not loaded' >&2\nexit 1\n")
    with pytest.raises(SandboxError):
        fake.run()
    hook.write_text(
        "#!/bin/sh\necho 'nvidia-container-cli: requirement error: unsatisfied condition: cuda>=99' >&2\nexit 1\n"
    )
    result = fake.run()
    assert result.verdict is Verdict.EXIT and "NVIDIA_REQUIRE_" in result.explanation
    assert fake.reserved() == []


def test_check_gpu_claims_nothing_of_a_host_without_gpus(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake hook gives a container no GPU, and the checks say so."""
    settings = {
        **os.environ,
        "HOLDOUT_GPUS": "all",
        "HOLDOUT_NVIDIA_SMI": " ".join(fake.smi.command),
        "DOCKER_HOST": fake.own.url,
    }
    base = fake.own.docker("inspect", "--format", "{{.Id}}", fake.systems.image).stdout.decode().strip()
    said: list[str] = []
    with check_gpu.built_image(base, settings) as image:
        assert not check_gpu.check(check_gpu.Host(image, settings), said.append)
        seen = check_gpu.Host(image, settings).run([])
    assert [line.split()[:2] for line in said[:4]] == [
        ["ok", "driver:"],
        ["ok", "idle:"],
        ["ok", "engine:"],
        ["FAILED", "runtime:"],
    ]
    assert "sees no GPU" in said[3]
    assert (seen.found["devices"], seen.found["networks"], seen.found["uid"]) == ([], ["lo"], 65534)
