"""GPUs of containers, with a fake nvidia-smi and a fake engine that record what they were asked for: no GPU is used."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import SandboxError, UsageError
from evaluator.sandbox.containers import container_spec, create_settings, engine_refusals, gpu, reaper
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.engine import EngineError, NameTakenError
from evaluator.sandbox.containers.engine_refusals import Step
from evaluator.sandbox.containers.gpu import Gpu, GpuMeter, Gpus, GpusBusyError, Sample
from evaluator.sandbox.containers.resources import Resources
from evaluator.sandbox.containers.system_contract import SystemExecution
from evaluator.sandbox.containers.volume_holder_image import VolumeHolderImage
from tests.evaluator.sandbox.containers.fake_nvidia_smi import H100, L4, MIG, FakeNvidiaSmi

IMAGE = "sha256:" + "a" * 64
SMALL = Gpu(id=L4, index=1, name="NVIDIA L4", memory_bytes=24_000_000_000)
LARGE = Gpu(id=H100, index=0, name="NVIDIA H100 80GB HBM3", memory_bytes=85_000_000_000)


@pytest.fixture
def smi(tmp_path: Path) -> FakeNvidiaSmi:
    return FakeNvidiaSmi(tmp_path)


def offered(smi: FakeNvidiaSmi, choice: str) -> list[str]:
    return [offer.id for offer in Gpus(choice, command=smi.command).offered()]


@pytest.mark.parametrize(
    ("choice", "ids"), [("all", [H100, L4]), ("1", [L4]), (f"{L4}, 0", [H100, L4]), ("2", []), ("", []), (" , ", [])]
)
def test_the_operator_chooses_the_gpus(smi: FakeNvidiaSmi, choice: str, ids: list[str]) -> None:
    """A GPU in MIG mode is never offered."""
    assert offered(smi, choice) == ids


def test_nothing_is_asked_of_a_host_without_offered_gpus(smi: FakeNvidiaSmi) -> None:
    assert offered(smi, "") == [] and smi.asked == []


def test_memory_is_that_of_nvidia_smi(smi: FakeNvidiaSmi) -> None:
    assert [offer.memory_bytes for offer in Gpus("all", command=smi.command).offered()] == [81559 << 20, 23034 << 20]
    assert smi.asked == ["--query-gpu=index,uuid,name,memory.total,mig.mode.current --format=csv,noheader,nounits"]


@pytest.mark.parametrize("choice", ["9", "GPU-none", f"{L4},7"])
def test_a_chosen_gpu_that_does_not_exist_is_an_error(smi: FakeNvidiaSmi, choice: str) -> None:
    with pytest.raises(SandboxError, match="there is no GPU "):
        offered(smi, choice)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("/nonexistent/nvidia-smi",), "could not be run: No such file or directory"),
        (("sh", "-c", "echo no driver; exit 9"), "failed: .*no driver"),
        (("echo", "a, b"), "expected lines of index, uuid"),
        (("echo", "0, all, n, 1, Disabled"), "wrote the UUID"),
    ],
)
def test_a_failing_nvidia_smi_is_an_error(command: tuple[str, ...], message: str) -> None:
    if command[0] == "echo":  # without the arguments, which echo would repeat
        command = ("sh", "-c", f"echo '{command[1]}'")
    with pytest.raises(SandboxError, match=message):
        Gpus("all", command=command).offered()


def test_the_smallest_gpus_that_fit_come_first() -> None:
    assert gpu.fitting([LARGE, SMALL], 1, 0) == [SMALL, LARGE]
    assert gpu.fitting([LARGE, SMALL], 1, 40_000_000_000) == [LARGE]
    with pytest.raises(UsageError, match=r"2 GPUs with 40,000,000,000 bytes .* offers 1 such"):
        gpu.fitting([LARGE, SMALL], 2, 40_000_000_000)


class FakeEngine:
    """An engine that records requests, and allows each container's name once, as Docker does."""

    def __init__(self) -> None:
        self.created: dict[str, dict[str, Any]] = {}
        self.names: dict[str, str] = {}
        self.volume_names = iter(f"volume-{n}" for n in range(100))
        self.stuck: set[str] = set()

    def create(self, config: dict[str, Any], seconds: float = 0.0, name: str = "") -> str:
        if name in self.names.values():
            raise NameTakenError(name, 409)
        container = f"container-{len(self.created)}"
        self.created[container] = config
        if name:
            self.names[container] = name
        return container

    def remove(self, container: str) -> None:
        if container in self.stuck:
            raise EngineError("it is stuck")
        self.names.pop(container, None)

    def create_volume(self, labels: Any, options: Any) -> str:
        return next(self.volume_names)

    def remove_volume(self, name: str) -> None:
        pass

    def put(self, container: str, folder: str, archive: Iterator[bytes]) -> None:
        for _ in archive:
            pass

    def start(self, container: str, seconds: float = 0.0) -> None:
        pass

    def file_status(self, container: str, path: str) -> dict[str, Any]:
        return {"mode": 0, "size": 1}

    def containers(self, label: str) -> list[dict[str, Any]]:
        """List all containers, whatever the label."""
        return [
            {"Id": key, "Names": [f"/{self.names.get(key, key)}"], "Labels": config["Labels"], "Created": 0.0}
            for key, config in self.created.items()
            if config["Labels"].get(reaper.PART) != reaper.GPU or key in self.names
        ]

    def volumes(self, label: str) -> list[dict[str, Any]]:
        return []


@pytest.fixture
def inputs(tmp_path: Path) -> Iterator[int]:
    with (tmp_path / "inputs").open("w+b") as file:
        yield file.fileno()


def resources(engine: FakeEngine, gpus: Gpus, inputs: int, *, n: int = 1, memory: int = 0, name: str = "e1") -> Any:
    execution = SystemExecution(
        execution_id=name, image=IMAGE, inputs=inputs, task="t", gpus=n, gpu_memory_bytes=memory
    )
    return Resources(
        engine,  # type: ignore[arg-type]
        container_spec.of_system(execution, io.BytesIO()),
        volume_holder=VolumeHolderImage(IMAGE, b""),
        instance="i",
        runtime="runc",
        architecture="amd64",
        image_labels=(),
        gpus=gpus,
    )


def made(engine: FakeEngine, *arguments: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """Make the resources of an execution; return them and the settings of its container."""
    built = resources(engine, *arguments, **more)
    _, working = built.make(create_seconds=10, still_needed=lambda: None)
    return built, engine.created[working]


@pytest.mark.parametrize(
    ("runtime", "request_"),
    [
        ("nvidia", {"Driver": "nvidia", "DeviceIDs": [L4], "Capabilities": [["gpu", "compute", "utility"]]}),
        ("cdi", {"Driver": "cdi", "DeviceIDs": [f"nvidia.com/gpu={L4}"]}),
    ],
)
def test_a_container_asks_for_exactly_its_gpu(
    smi: FakeNvidiaSmi, inputs: int, runtime: str, request_: dict[str, Any]
) -> None:
    _, config = made(FakeEngine(), Gpus("all", runtime=runtime, command=smi.command), inputs)
    host = config["HostConfig"]
    assert host["DeviceRequests"] == [request_]
    assert (host["NetworkMode"], host["CapDrop"], host["ReadonlyRootfs"]) == ("none", ["ALL"], True)
    assert not {"Privileged", "Devices", "CapAdd", "Binds"} & set(host)


def reservations(engine: FakeEngine) -> list[str]:
    return [name for name in engine.names.values() if name.startswith("holdout-reserves-")]


def test_two_executions_never_share_a_gpu(smi: FakeNvidiaSmi, inputs: int) -> None:
    engine, gpus = FakeEngine(), Gpus("all", command=smi.command)
    first, config = made(engine, gpus, inputs, name="first")
    second, other = made(engine, gpus, inputs, name="second")
    ids = [settings["HostConfig"]["DeviceRequests"][0]["DeviceIDs"] for settings in (config, other)]
    assert ids == [[L4], [H100]]
    third = resources(engine, gpus, inputs, name="third")
    with pytest.raises(GpusBusyError, match="only 0 of 2 are free"):
        third.make(create_seconds=10, still_needed=lambda: None)
    third.remove()
    first.remove()
    _, config = made(engine, gpus, inputs, name="third")
    assert config["HostConfig"]["DeviceRequests"][0]["DeviceIDs"] == [L4]
    second.remove()


def test_an_execution_that_gets_too_few_gpus_keeps_none(smi: FakeNvidiaSmi, inputs: int) -> None:
    engine, gpus = FakeEngine(), Gpus("all", command=smi.command)
    made(engine, gpus, inputs, name="first")
    both = resources(engine, gpus, inputs, n=2, name="both")
    with pytest.raises(GpusBusyError):
        both.make(create_seconds=10, still_needed=lambda: None)
    assert reservations(engine) == [f"holdout-reserves-{L4}"]
    made(engine, gpus, inputs, name="second")


def test_a_gpu_stays_reserved_while_its_container_cannot_be_removed(smi: FakeNvidiaSmi, inputs: int) -> None:
    engine, gpus = FakeEngine(), Gpus("1", command=smi.command)
    first, _ = made(engine, gpus, inputs)
    engine.stuck = {"container-1", "container-2"}
    first.remove()
    assert reservations(engine) == [f"holdout-reserves-{L4}"]
    assert reaper.reap(engine, "i", frozenset(), 0) == [], "nor does the reaper free it"  # type: ignore[arg-type]
    engine.stuck.clear()
    assert reaper.reap(engine, "i", frozenset(), 0)[-1] == "gpu container of e1"  # type: ignore[arg-type]
    assert not engine.names


def test_the_gpus_of_a_dead_worker_are_freed_after_its_containers(smi: FakeNvidiaSmi, inputs: int) -> None:
    engine: Any = FakeEngine()
    made(engine, Gpus("all", command=smi.command), inputs, n=2)  # and never removed
    assert reaper.reap(engine, "i", frozenset({"e1"}), 0) == [], "its row is still running"
    assert len(reservations(engine)) == 2
    removed = [text.split()[0] for text in reaper.reap(engine, "i", frozenset(), 0)]
    assert removed[-2:] == ["gpu", "gpu"] and sorted(removed) == ["gpu", "gpu", "keeper", "system"]
    assert not engine.names


def test_a_reservation_outlives_the_deadline_of_its_container(smi: FakeNvidiaSmi, inputs: int) -> None:
    engine = FakeEngine()
    made(engine, Gpus("1", command=smi.command), inputs)
    deadlines = {row["Labels"][reaper.PART]: int(row["Labels"][reaper.DEADLINE]) for row in engine.created.values()}
    assert deadlines["gpu"] >= deadlines["system"] + 30


@pytest.mark.parametrize(("reserved", "n", "free"), [(0, 2, True), (0, 3, False), (1, 2, False), (1, 1, True)])
def test_a_worker_knows_how_many_gpus_are_free(
    smi: FakeNvidiaSmi, inputs: int, reserved: int, n: int, free: bool
) -> None:
    engine, gpus = FakeEngine(), Gpus("all", command=smi.command)
    for index in range(reserved):
        made(engine, gpus, inputs, name=f"e{index}")
    sandbox = DockerSandbox(instance="other", gpus=gpus)
    sandbox._engine = engine  # type: ignore[assignment]
    assert sandbox.has_free_gpus(n) is free


@pytest.mark.parametrize("runtime", gpu.RUNTIMES)
def test_an_image_cannot_choose_its_gpus(runtime: str) -> None:
    """Where the NVIDIA runtime is the engine's default, it gives an image what its ENV asks for."""
    job = container_spec.of_system(SystemExecution(execution_id="e", image=IMAGE, inputs=0, task="t"), io.BytesIO())
    config = create_settings.work(
        job, folders={}, output="o", runtime="runc", architecture="amd64", labels={}, image_labels=(),
        gpu_runtime=runtime,
    )  # fmt: skip
    environment = dict(line.split("=", 1) for line in config["Env"])
    assert environment["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert environment["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility"
    assert "DeviceRequests" not in config["HostConfig"]


def test_a_system_knows_how_many_gpus_it_has() -> None:
    with_gpus = SystemExecution(execution_id="e", image=IMAGE, inputs=0, task="t", gpus=2)
    without = SystemExecution(execution_id="e", image=IMAGE, inputs=0, task="t")
    assert container_spec.system_environment(with_gpus)["HOLDOUT_GPUS"] == "2"
    assert json.loads(container_spec.system_task(with_gpus))["limits"]["gpus"] == 2
    assert "HOLDOUT_GPUS" not in container_spec.system_environment(without)
    assert "gpus" not in json.loads(container_spec.system_task(without))["limits"]


def test_the_meter_adds_up_the_gpus_of_the_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    gb = 1_000_000_000
    samples = iter(
        [
            {L4: Sample(busy=0.0, memory_bytes=gb), H100: Sample(busy=1.0, memory_bytes=50 * gb)},  # before the start
            {L4: Sample(busy=0.5, memory_bytes=4 * gb), H100: Sample(busy=1.0, memory_bytes=50 * gb)},
            {L4: Sample(busy=1.0, memory_bytes=3 * gb), H100: Sample(busy=1.0, memory_bytes=70 * gb)},
        ]
    )
    meter = GpuMeter([SMALL], lambda: next(samples))
    now = 110.0
    meter.begin()
    for now in (112.0, 113.0):  # noqa: B007
        meter.look()
    assert meter.busy_seconds == pytest.approx(2 * 0.5 + 1 * 1.0)
    assert meter.peak_memory_bytes == 3 * gb, "without what the driver used before, and without the other GPU"


def test_an_execution_goes_on_when_its_gpus_cannot_be_measured(caplog: pytest.LogCaptureFixture) -> None:
    def fails() -> dict[str, Sample]:
        raise SandboxError("nvidia-smi failed")

    meter = GpuMeter([SMALL], fails)
    meter.look()
    assert (meter.busy_seconds, meter.peak_memory_bytes) == (None, None)
    assert len(caplog.records) == 1


def test_usage_that_is_not_reported_is_unknown(tmp_path: Path) -> None:
    smi = FakeNvidiaSmi(tmp_path, samples=[f"{L4}, [N/A], 100\n{MIG}, 3, 4\n"])
    assert Gpus("all", command=smi.command).samples()[L4] == Sample(busy=None, memory_bytes=100 << 20)
    assert smi.asked == ["--query-gpu=uuid,utilization.gpu,memory.used --format=csv,noheader,nounits"]


@pytest.mark.parametrize(
    ("message", "is_images"),
    [
        ("nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown", False),
        ('could not select device driver "nvidia" with capabilities: [[gpu compute utility]]', False),
        ("unresolvable CDI devices nvidia.com/gpu=GPU-1", False),
        ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.9, please update your driver", True),
    ],
)
def test_whose_fault_a_failing_gpu_is(message: str, is_images: bool) -> None:
    text = f"OCI runtime create failed: error running hook #0: exit status 1, stderr: {message}: unknown"
    refusal = engine_refusals.find(Step.START, EngineError("starting", 500, text))
    assert (refusal is not None) == is_images
