"""Run the checks of this host's GPUs, and print `ok` or the fix for each. `deploy/check-gpu` runs this script.

A container has to see the GPUs that it asks for, and no others. Containers are confined as those of submitted systems
are, by the same code, with the settings of the worker `systems-gpu`: HOLDOUT_GPUS, HOLDOUT_GPU_RUNTIME,
HOLDOUT_NVIDIA_SMI, HOLDOUT_ENGINE_RUNTIME and DOCKER_HOST. `check_gpu_program.py` is their program.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.errors import SandboxError, UsageError, shown
from evaluator.options import Parser
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.gpu import Gpu, Gpus, GpusBusyError
from evaluator.sandbox.containers.system_contract import SystemExecution, SystemLimits, Usage
from evaluator.sandbox.contract import Verdict

PROGRAM = Path(__file__).with_name("check_gpu_program.py")
SECONDS = 6.0
"""For how long a container uses a GPU, or holds one while another asks for it."""
BYTES = 1_000_000_000
"""GPU memory that a container uses when its memory is measured."""
IDLE_BYTES = 1_500_000_000
"""GPU memory that may be in use before the checks: the driver's own, on the largest GPUs."""
PROBE_NETWORK = "lo"
INSTALL = (
    "apt-get install nvidia-container-toolkit && nvidia-ctk runtime configure --runtime=docker && systemctl restart "
    "docker"
)
GENERATE = "nvidia-ctk cdi generate --device-name-strategy=uuid --output=/etc/cdi/nvidia.yaml"
CONFIGURE = "nvidia-ctk config --set accept-nvidia-visible-devices-envvar-when-unprivileged=false --in-place"


@dataclass(frozen=True)
class Seen:
    """The result of a container: `found` is the parsed output of the program, `usage` the sandbox's measurements."""

    found: Mapping[str, Any]
    usage: Usage = field(default_factory=Usage)


class Host:
    """The host that runs this script. All methods may raise SandboxError.

    image: id of the image with the program. settings: environment variables.
    """

    def __init__(self, image: str, settings: Mapping[str, str]) -> None:
        self.runtime = settings.get("HOLDOUT_GPU_RUNTIME") or "nvidia"
        self._command = shlex.split(settings.get("HOLDOUT_NVIDIA_SMI") or "nvidia-smi")
        self._choice = settings.get("HOLDOUT_GPUS") or ""
        self._image = image
        self._engine = {
            "url": settings.get("DOCKER_HOST"),
            "runtime": settings.get("HOLDOUT_ENGINE_RUNTIME") or "runc",
        }
        self._instance = f"check-gpu-{secrets.token_hex(4)}"

    def gpus(self) -> list[Gpu]:
        """Return the GPUs that the operator offers (HOLDOUT_GPUS)."""
        return self._offered(self._choice).offered()

    def used_bytes(self, gpu: Gpu) -> int:
        samples = self._offered(self._choice).samples()
        return samples[gpu.id].memory_bytes if gpu.id in samples else 0

    def layers(self) -> Mapping[str, Any]:
        return self._sandbox([]).layers()

    def run(self, gpus: list[Gpu], do: str = "look") -> Seen:
        """Run the program in a container with exactly these GPUs, and return what it saw and used.

        do: the program's option: `look`, `use` or `wait`. Raises UsageError, GpusBusyError.
        """
        output = io.BytesIO()
        with PROGRAM.open("rb") as inputs:  # any file: the program reads no inputs
            execution = SystemExecution(
                execution_id=secrets.token_hex(8),
                image=self._image,
                inputs=inputs.fileno(),
                task="check-gpu",
                options={"do": do, "seconds": SECONDS, "bytes": BYTES},
                limits=SystemLimits(wall_seconds=60 + SECONDS),
                gpus=len(gpus),
            )
            result = self._sandbox(gpus).run(execution, output)
        if result.verdict is not Verdict.DONE:
            raise SandboxError(f"the container failed: {result.explanation}; it printed: {shown(result.log)}")
        return Seen(json.loads(output.getvalue()), result.usage)

    def are_free(self, gpus: list[Gpu]) -> bool:
        """Return True if none of these GPUs is reserved."""
        return self._sandbox(gpus).has_free_gpus(len(gpus))

    @contextmanager
    def holding(self, gpus: list[Gpu]) -> Iterator[None]:
        """Run a container with these GPUs, which are reserved inside the context."""
        errors: list[Exception] = []

        def hold() -> None:
            try:
                self.run(gpus, "wait")
            except (SandboxError, UsageError) as error:
                errors.append(error)

        holder = threading.Thread(target=hold)
        holder.start()
        try:
            while self.are_free(gpus) and holder.is_alive():
                holder.join(0.05)
            yield
        finally:
            holder.join()
        if errors:
            raise SandboxError(f"the container that holds the GPU failed: {errors[0]}")

    def _offered(self, choice: str) -> Gpus:
        return Gpus(choice, runtime=self.runtime, command=self._command)

    def _sandbox(self, gpus: list[Gpu]) -> DockerSandbox:
        offered = self._offered(",".join(gpu.id for gpu in gpus))
        return DockerSandbox(instance=self._instance, gpus=offered, **self._engine)  # type: ignore[arg-type]


class CheckError(Exception):
    """A check failed. mend: the command or the sentence that says how to fix it."""

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.mend = mend


def driver(host: Host) -> str:
    """Check that the driver lists the GPUs that HOLDOUT_GPUS selects, at least one; return their names and sizes."""
    try:
        gpus = host.gpus()
    except SandboxError as error:
        raise CheckError(str(error), "nvidia-smi; if it fails: apt-get install nvidia-driver, then reboot") from None
    if not gpus:
        raise CheckError("no GPU is offered", "export HOLDOUT_GPUS=all; GPUs in MIG mode: nvidia-smi -mig 0")
    return ", ".join(f"{gpu.name} ({gpu.memory_bytes // 10**9} GB)" for gpu in gpus)


def idle(host: Host) -> str:
    """Check that no other program uses the GPUs."""
    used = {gpu.id: host.used_bytes(gpu) for gpu in host.gpus()}
    if busy := [gpu for gpu, used_bytes in used.items() if used_bytes > IDLE_BYTES]:
        raise CheckError(
            f"other programs use {', '.join(busy)}",
            "nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv; then end them",
        )
    return "no other program uses the GPUs"


def engine(host: Host) -> str:
    """Check that the container engine passes its health check."""
    try:
        layers = host.layers()
    except SandboxError as error:
        raise CheckError(str(error), "see docs/sandbox.md; check DOCKER_HOST and HOLDOUT_ENGINE_RUNTIME") from None
    return f"containers run under {layers['runtime']}, engine {layers['engine']}"


def runtime(host: Host) -> str:
    """Check that the engine starts a container with a GPU, and that CUDA works in it."""
    try:
        seen = host.run(host.gpus()[:1])
    except SandboxError as error:
        raise CheckError(str(error), GENERATE if host.runtime == "cdi" else INSTALL) from None
    if not seen.found["devices"]:
        raise CheckError("a container that asks for a GPU sees no GPU", GENERATE if host.runtime == "cdi" else INSTALL)
    if seen.found["error"]:
        raise CheckError(
            f"CUDA does not work in a container: {seen.found['error']}",
            "nvidia-ctk --version; the image needs glibc, and gVisor (runsc) needs --nvproxy in its runtimeArgs",
        )
    return f"a container computes with a GPU ({host.runtime})"


def each(host: Host) -> str:
    """Check that a container sees exactly the GPUs that it asks for: for each GPU alone, and for all GPUs together."""
    gpus = host.gpus()
    for asked in [*([gpu] for gpu in gpus), *([gpus] if len(gpus) > 1 else [])]:
        seen = host.run(asked).found
        ids = sorted(gpu.id for gpu in asked)
        if sorted(seen["uuids"]) != ids or len(seen["devices"]) != len(ids):
            what = f"{', '.join(seen['uuids']) or 'none'} (devices {', '.join(seen['devices']) or 'none'})"
            raise CheckError(
                f"a container that asks for {', '.join(ids)} sees {what}",
                GENERATE if host.runtime == "cdi" else CONFIGURE,
            )
    return f"a container sees exactly what it asks for, {len(gpus)} of {len(gpus)}"


def none(host: Host) -> str:
    """Check that a container that asks for no GPU sees none, although its image sets NVIDIA_VISIBLE_DEVICES=all."""
    seen = host.run([]).found
    if seen["devices"] or seen["uuids"]:
        raise CheckError(f"a container that asks for no GPU sees {', '.join(seen['devices'])}", CONFIGURE)
    return "a container that asks for no GPU sees none"


def measured(host: Host) -> str:
    """Check that the time and the memory of a GPU are measured."""
    usage = host.run(host.gpus()[:1], "use").usage
    memory, seconds = usage.peak_gpu_memory_bytes, usage.gpu_seconds
    if memory is None or memory < 0.9 * BYTES:
        raise CheckError(
            f"a container uses {BYTES:,} bytes of GPU memory, but "
            f"{'none' if memory is None else f'{memory:,} bytes'} were measured, expected at least 90 %",
            "nvidia-smi --query-gpu=uuid,utilization.gpu,memory.used --format=csv; then nvidia-smi -pm 1",
        )
    if seconds is None or not 0.2 * SECONDS < seconds < 5 * SECONDS:
        found = "no time was" if seconds is None else f"{seconds:.1f} s were"
        raise CheckError(
            f"a container computes for {SECONDS:g} s, but {found} measured, expected {0.2 * SECONDS:g} to "
            f"{5 * SECONDS:g} s",
            "nvidia-smi -pm 1",
        )
    return f"{memory:,} bytes and {seconds:.1f} s of a GPU were measured"


def exclusive(host: Host) -> str:
    """Check that a GPU is refused to a second container while another one has it, and is free afterwards."""
    gpus = host.gpus()[:1]
    mend = "docker ps --all --filter label=holdout.part=gpu; then docker rm the containers of dead workers"
    with host.holding(gpus):
        try:
            host.run(gpus)
        except GpusBusyError:
            pass
        else:
            raise CheckError("two containers had the same GPU at the same time", mend)
    if not host.are_free(gpus):
        raise CheckError("a GPU stays reserved after its container has ended", mend)
    return "a second container is refused a GPU that another one has"


def network(host: Host) -> str:
    """Check that a container with a GPU has no network, and runs as the user nobody."""
    seen = host.run(host.gpus()[:1]).found
    if set(seen["networks"]) - {PROBE_NETWORK} or seen["uid"] != 65534:
        raise CheckError(
            f"a container has the networks {', '.join(seen['networks'])} and the user {seen['uid']}, expected none and "
            "65534",
            "docker inspect the container; only Docker Engine 20.10 and later is known to obey",
        )
    return "a container with a GPU has no network and runs as nobody"


CHECKS: tuple[Callable[[Host], str], ...] = (
    *(driver, idle, engine, runtime, each, none, measured, exclusive, network),
)
"""The checks in their order. Each returns what it found, as a text for the operator, and raises CheckError if it fails.
After the first that fails, the rest are not run: most depend on the ones before."""


def check(host: Host, say: Callable[[str], object]) -> bool:
    """Run the checks, up to the first that fails, and report each; return True if all passed.

    say: called with the text of each result.
    """
    for function in CHECKS:
        try:
            text = function(host)
        except CheckError as failure:
            say(f"FAILED  {function.__name__}: {failure.problem}\n        fix: {failure.mend}")
        except (SandboxError, UsageError) as error:
            say(f"FAILED  {function.__name__}: {error}\n        fix: read the message above, then run this again")
        else:
            say(f"ok      {function.__name__}: {text}")
            continue
        left = [other.__name__ for other in CHECKS[CHECKS.index(function) + 1 :]]
        say(f"not checked: {', '.join(left) or 'nothing'}")
        return False
    say("all checks passed: this host can run a worker systems-gpu")
    return True


@contextmanager
def built_image(base: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Build the image of the program on `base`, which has python3 and glibc; yield its id, and remove the image."""
    tag = f"holdout-check-gpu:{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PROGRAM, Path(folder, "program.py"))
        Path(folder, "Dockerfile").write_text(
            f"FROM {base}\nENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=all\nCOPY program.py /program.py\n"
            'ENTRYPOINT ["python3", "/program.py"]\n'
        )
        done = _docker("build", "--quiet", "--tag", tag, folder, environment=environment)
    if done.returncode:
        raise SandboxError(f"the image of the checks could not be built on {base}: {shown(done.stderr)}")
    try:
        yield done.stdout.split()[-1]
    finally:
        _docker("rmi", tag, environment=environment)


def _docker(*arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603
            ["docker", *arguments],  # noqa: S607
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise SandboxError(f"docker could not be run: {type(error).__name__}; apt-get install docker.io") from None


def main(arguments: list[str] | None = None) -> int:
    base = _parser().parse_args(arguments).base
    try:
        with built_image(base, os.environ) as image:
            return 0 if check(Host(image, os.environ), print) else 1
    except SandboxError as error:
        sys.stderr.write(f"check-gpu: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="check-gpu", description="Check that this host can run systems with GPUs.")
    parser.add_argument(
        "--base", default="python:3.11-slim-bookworm", help="an image with python3 (default %(default)s)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
