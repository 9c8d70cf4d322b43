"""NVIDIA GPUs of the engine's host: which are offered, their reservation for one execution, and their usage.

`nvidia-smi` lists and measures the GPUs. A container receives them by a device request of the NVIDIA container runtime
or by CDI (Container Device Interface). No two executions share a GPU: a reservation is a container on the engine that
is never started, and whose name contains the GPU's id. The engine allows each name once, so that reservations also hold
between workers, hosts and sites that use one engine; those of a dead worker are removed by the reaper, after the
containers that use the GPU.
"""

from __future__ import annotations

import csv
import logging
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.errors import SandboxError, UsageError, shown

_log = logging.getLogger(__name__)
_PATIENCE = 30.0  # seconds for nvidia-smi, which takes some if the driver is not loaded (persistence mode off)
_MIB = 1 << 20
_UUID = re.compile(r"GPU-[0-9a-fA-F-]{8,64}")
_LISTED = ("index", "uuid", "name", "memory.total", "mig.mode.current")
_SAMPLED = ("uuid", "utilization.gpu", "memory.used")
RUNTIMES = ("nvidia", "cdi")
"""How a container receives GPUs: by the NVIDIA container runtime's hook, or by CDI."""
CAPABILITIES = ("compute", "utility")
"""What the NVIDIA runtime mounts into a container: libraries of CUDA and nvidia-smi, nothing for displays or video."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU. id: its UUID, which stays the same when GPUs are added. memory_bytes: its total memory."""

    id: str
    index: int
    name: str
    memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Usage of one GPU.

    memory_bytes: the memory in use. busy: the fraction of the last sample period (at most 1 s) in which the GPU
    computed; None: unknown.
    """

    busy: float | None
    memory_bytes: int


class Gpus:
    """The GPUs that the operator offers to containers.

    choice: `all`, or indexes and UUIDs separated by commas; empty: none. runtime: one of RUNTIMES. command: the words
    of the nvidia-smi command, which has to run on the engine's host.
    """

    def __init__(self, choice: str = "", *, runtime: str = "nvidia", command: Sequence[str] = ("nvidia-smi",)) -> None:
        if runtime not in RUNTIMES:
            raise ValueError(f"the runtime of GPUs is {runtime!r}, expected one of: {', '.join(RUNTIMES)}")
        self.choice = [word.strip() for word in choice.split(",") if word.strip()]
        self.runtime = runtime
        self._command = tuple(command)

    def offered(self) -> list[Gpu]:
        """Return the offered GPUs, sorted by index, without those in MIG mode, which are divided among several users.

        Raises SandboxError if nvidia-smi fails, or if a chosen GPU does not exist.
        """
        if not self.choice:
            return []
        rows = self._query(_LISTED)
        gpus = [
            Gpu(id=row["uuid"], index=int(row["index"]), name=row["name"], memory_bytes=_bytes(row["memory.total"]))
            for row in rows
        ]
        in_mig_mode = {row["uuid"] for row in rows if row["mig.mode.current"] == "Enabled"}
        if self.choice != ["all"]:
            known = {name for gpu in gpus for name in (gpu.id, str(gpu.index))}
            if missing := [word for word in self.choice if word not in known]:
                raise SandboxError(
                    f"there is no GPU {', '.join(missing)}; nvidia-smi lists: {', '.join(sorted(known))}"
                )
            gpus = [gpu for gpu in gpus if {gpu.id, str(gpu.index)} & {*self.choice}]
        return sorted((gpu for gpu in gpus if gpu.id not in in_mig_mode), key=lambda gpu: gpu.index)

    def samples(self) -> dict[str, Sample]:
        """Return id -> current usage of each GPU of the host. Raises SandboxError if nvidia-smi fails."""
        return {
            row["uuid"]: Sample(busy=_share(row["utilization.gpu"]), memory_bytes=_bytes(row["memory.used"]))
            for row in self._query(_SAMPLED)
        }

    def _query(self, fields: Sequence[str]) -> list[dict[str, str]]:
        command = [*self._command, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(  # noqa: S603
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except OSError as problem:
            raise SandboxError(f"{command[0]} could not be run: {problem.strerror}") from None
        except subprocess.TimeoutExpired:
            raise SandboxError(f"{command[0]} did not end within {_PATIENCE:g} seconds") from None
        if done.returncode:
            raise SandboxError(f"{command[0]} failed: {shown(done.stdout + done.stderr)}")
        rows = [row for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True) if row]
        if any(len(row) != len(fields) for row in rows):
            raise SandboxError(f"{command[0]} wrote {shown(done.stdout)}, expected lines of {', '.join(fields)}")
        found = [dict(zip(fields, map(str.strip, row), strict=True)) for row in rows]
        if bad := [row["uuid"] for row in found if not _UUID.fullmatch(row["uuid"])]:
            raise SandboxError(f"{command[0]} wrote the UUID {shown(bad[0])}, expected GPU- and hexadecimal digits")
        return found


class GpusBusyError(SandboxError):
    """Other executions have reserved the GPUs. The caller should request them again later."""


def fitting(gpus: Sequence[Gpu], n: int, memory_bytes: int) -> list[Gpu]:
    """Return the GPUs that have at least `memory_bytes` each, the smallest first, so that larger ones stay free.

    Raises UsageError if there are fewer than `n`.
    """
    enough = sorted((gpu for gpu in gpus if gpu.memory_bytes >= memory_bytes), key=lambda gpu: gpu.memory_bytes)
    if len(enough) < n:
        size = f" with {memory_bytes:,} bytes of memory each" if memory_bytes else ""
        raise UsageError(f"{n} GPUs{size} are requested, but this worker offers {len(enough)} such GPUs")
    return enough


def reservation_name(gpu: Gpu) -> str:
    """Return the name of the container that reserves a GPU."""
    return f"holdout-reserves-{gpu.id}"


def reserve(gpus: Sequence[Gpu], n: int, *, create: Callable[[str], bool], release: Callable[[], object]) -> list[Gpu]:
    """Reserve the first `n` GPUs that are not reserved yet, and return them.

    create: called with the name of a container to create; returns False if the name is taken. release: removes the
    containers that `create` has created. Raises GpusBusyError, after `release`, if fewer than `n` are free.
    """
    reserved: list[Gpu] = []
    for gpu in gpus:
        if len(reserved) < n and create(reservation_name(gpu)):
            reserved.append(gpu)
    if len(reserved) < n:
        release()
        raise GpusBusyError(f"{n} GPUs are requested, but only {len(reserved)} of {len(gpus)} are free")
    return reserved


def device_request(runtime: str, gpus: Sequence[Gpu]) -> dict[str, Any]:
    """Return the device request for exactly these GPUs, in the format of the Docker Engine API."""
    if runtime == "cdi":
        return {"Driver": "cdi", "DeviceIDs": [f"nvidia.com/gpu={gpu.id}" for gpu in gpus]}
    return {"Driver": "nvidia", "DeviceIDs": [gpu.id for gpu in gpus], "Capabilities": [["gpu", *CAPABILITIES]]}


def environment(runtime: str, gpus: Sequence[Gpu]) -> dict[str, str]:
    """Return the variables by which the NVIDIA container runtime decides what a container receives.

    They are set for every container, also without GPUs: otherwise an image could set them itself, and a runtime that is
    the engine's default would obey the image.
    """
    visible = ",".join(gpu.id for gpu in gpus) if runtime == "nvidia" else ""
    return {
        "NVIDIA_VISIBLE_DEVICES": visible or "void",
        "NVIDIA_DRIVER_CAPABILITIES": ",".join(CAPABILITIES),
        "NVIDIA_MIG_CONFIG_DEVICES": "",
        "NVIDIA_MIG_MONITOR_DEVICES": "",
        "NVIDIA_IMEX_CHANNELS": "",
    }


class GpuMeter:
    """Samples of the usage of one execution's GPUs, which no other program uses.

    gpus: the execution's GPUs. sample: the function `Gpus.samples`. The first sample is taken when the object is
    created; the memory in use at that time is the driver's, and is subtracted from later samples.
    """

    def __init__(self, gpus: Sequence[Gpu], sample: Callable[[], Mapping[str, Sample]]) -> None:
        self.busy_seconds: float | None = None
        self.peak_memory_bytes: int | None = None
        self._ids = [gpu.id for gpu in gpus]
        self._sample = sample
        self._has_failed = False
        self._idle = {gpu: sample.memory_bytes for gpu, sample in self._look().items()}
        self._last = time.monotonic()

    def begin(self) -> None:
        """Set the start of the period that the next sample covers to now. To be called when the container starts."""
        self._last = time.monotonic()

    def look(self) -> None:
        """Add a sample. If nvidia-smi fails, nothing is added and the first failure is logged."""
        samples = self._look()
        now = time.monotonic()
        elapsed, self._last = now - self._last, now
        shares = [sample.busy for sample in samples.values() if sample.busy is not None]
        if shares:
            self.busy_seconds = (self.busy_seconds or 0.0) + elapsed * sum(shares)
        if samples:
            used = sum(max(sample.memory_bytes - self._idle.get(gpu, 0), 0) for gpu, sample in samples.items())
            self.peak_memory_bytes = max(self.peak_memory_bytes or 0, used)

    def _look(self) -> dict[str, Sample]:
        if not self._ids:
            return {}
        try:
            samples = self._sample()
        except SandboxError as problem:
            if not self._has_failed:
                _log.warning("the GPUs of an execution are not measured: %s", problem)
            self._has_failed = True
            return {}
        return {gpu: samples[gpu] for gpu in self._ids if gpu in samples}


def _bytes(mebibytes: str) -> int:
    return int(mebibytes) * _MIB if mebibytes.isdigit() else 0


def _share(percent: str) -> float | None:
    return int(percent) / 100 if percent.isdigit() else None
