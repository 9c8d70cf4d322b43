"""The logic of `deploy/check-gpu`, on a fake host that records what it was asked for. No GPU is used."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.gpu import Gpu, GpusBusyError
from evaluator.sandbox.containers.system_contract import Usage
from tests.conftest import ROOT
from tests.evaluator.sandbox.containers.fake_nvidia_smi import H100, L4, FakeNvidiaSmi
from tests.support.deploy_scripts import check_gpu

GPUS = [
    Gpu(id=H100, index=0, name="NVIDIA H100", memory_bytes=85_000_000_000),
    Gpu(id=L4, index=1, name="NVIDIA L4", memory_bytes=24_000_000_000),
]


class FakeHost:
    """A host whose containers see what a real one should show them, except for what a test changes."""

    runtime = "nvidia"

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.held: list[Gpu] = []
        self.usage = Usage(gpu_seconds=6.0, peak_gpu_memory_bytes=1_010_000_000)

    def gpus(self) -> list[Gpu]:
        return GPUS

    def used_bytes(self, gpu: Gpu) -> int:
        return 600_000_000

    def layers(self) -> Mapping[str, Any]:
        return {"runtime": "runc", "engine": "28.2.2"}

    def run(self, gpus: list[Gpu], do: str = "look") -> Any:
        self.asked.append((do, [gpu.id for gpu in gpus]))
        if any(gpu in self.held for gpu in gpus):
            raise GpusBusyError("they are reserved")
        return check_gpu.Seen(self.seen(gpus), self.usage)

    def seen(self, gpus: list[Gpu]) -> dict[str, Any]:
        devices = [f"nvidia{gpu.index}" for gpu in gpus]
        return {"devices": devices, "uuids": [gpu.id for gpu in gpus], "error": "", "uid": 65534, "networks": ["lo"]}

    def are_free(self, gpus: list[Gpu]) -> bool:
        return not any(gpu in self.held for gpu in gpus)

    @contextmanager
    def holding(self, gpus: list[Gpu]) -> Iterator[None]:
        self.held = gpus
        yield
        self.held = []


def test_a_host_that_does_everything_right_passes() -> None:
    host, said = FakeHost(), []
    assert check_gpu.check(host, said.append)
    assert [line.split()[1].strip(":") for line in said[:-1]] == [check.__name__ for check in check_gpu.CHECKS]
    assert all(line.startswith("ok ") for line in said[:-1]) and "all checks passed" in said[-1]
    assert host.asked[1:5] == [("look", [H100]), ("look", [L4]), ("look", [H100, L4]), ("look", [])]
    assert ("use", [H100]) in host.asked


def changed(**methods: Any) -> FakeHost:
    host = FakeHost()
    for name, value in methods.items():
        setattr(host, name, value)
    return host


def failing(text: str) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise SandboxError(text)

    return fail


def sees(**more: Any) -> FakeHost:
    """A host whose containers see something else; a value that is a function gets the GPUs that were asked for."""
    host = FakeHost()
    honest = host.seen
    host.seen = lambda gpus: {  # type: ignore[method-assign]
        **honest(gpus),
        **{name: value(gpus) if callable(value) else value for name, value in more.items()},
    }
    return host


@contextmanager
def shared(gpus: list[Gpu]) -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    ("host", "name", "problem", "mend"),
    [
        (changed(gpus=failing("nvidia-smi failed: no driver")), "driver", "no driver", "apt-get install nvidia-driver"),
        (changed(gpus=list), "driver", "no GPU is offered", "export HOLDOUT_GPUS=all"),
        (changed(used_bytes=lambda gpu: 9 * 10**9), "idle", "other programs use", "nvidia-smi --query-compute-apps"),
        (changed(layers=failing("lacks: seccomp")), "engine", "lacks: seccomp", "DOCKER_HOST"),
        (changed(run=failing("could not select device driver")), "runtime", "device driver", "nvidia-ctk runtime"),
        (changed(run=failing("unresolvable"), runtime="cdi"), "runtime", "unresolvable", "nvidia-ctk cdi generate"),
        (sees(error="OSError: libcuda.so.1"), "runtime", "libcuda.so.1", "--nvproxy"),
        (sees(uuids=[], devices=[]), "runtime", "no GPU", "nvidia-ctk"),
        (sees(uuids=[H100, L4], devices=["nvidia0", "nvidia1"]), "each", "sees GPU-1111", "accept-nvidia-visible"),
        (sees(devices=lambda gpus: ["nvidia0", "nvidia1"]), "each", "devices nvidia0, nvidia1", "nvidia-ctk config"),
        (
            sees(
                devices=lambda gpus: [f"nvidia{gpu.index}" for gpu in gpus] or ["nvidia0", "nvidia1"],
                uuids=lambda gpus: [gpu.id for gpu in gpus],
            ),
            "none",
            "asks for no GPU sees nvidia0, nvidia1",
            "accept-nvidia-visible-devices-envvar-when-unprivileged=false",
        ),
        (changed(usage=Usage()), "measured", "but none were measured", "memory.used"),
        (changed(usage=Usage(peak_gpu_memory_bytes=10**9)), "measured", "but no time was measured", "nvidia-smi -pm 1"),
        (changed(usage=Usage(peak_gpu_memory_bytes=10**9, gpu_seconds=0.1)), "measured", "0.1", "nvidia-smi -pm 1"),
        (changed(holding=shared), "exclusive", "the same GPU at the same time", "docker ps"),
        (changed(are_free=lambda gpus: False), "exclusive", "stays reserved", "docker rm"),
        (sees(networks=["eth0", "lo"]), "network", "the networks eth0, lo", "docker inspect"),
        (sees(uid=0), "network", "the user 0", "docker inspect"),
    ],
)
def test_each_check_fails_on_a_host_with_its_defect(host: FakeHost, name: str, problem: str, mend: str) -> None:
    said: list[str] = []
    assert not check_gpu.check(host, said.append)
    failure = next(line for line in said if line.startswith("FAILED"))
    assert failure.split()[1] == f"{name}:" and problem in failure
    assert mend in failure.split("fix: ")[1]
    assert said[-1].startswith("not checked: "), "nothing after it is claimed"
    assert [line.split()[1].strip(":") for line in said[:-2]] == [
        check.__name__ for check in check_gpu.CHECKS[: len(said) - 2]
    ]


def test_the_command_ends_with_a_status_where_there_is_no_engine(tmp_path: Path) -> None:
    environment = {**os.environ, "HOLDOUT_GPUS": "all", "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    smi = FakeNvidiaSmi(tmp_path)
    environment["HOLDOUT_NVIDIA_SMI"] = " ".join(smi.command)
    done = subprocess.run(
        [ROOT / "deploy/check-gpu"], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2, done.stdout
    assert "check-gpu: " in done.stderr and "all checks passed" not in done.stdout
