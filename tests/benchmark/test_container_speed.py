"""Overhead of the sandbox compared with `docker run` of the same image: printed, not asserted (`-s -m benchmark`)."""

from __future__ import annotations

import io
import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.system_contract import SystemExecution
from evaluator.sandbox.contract import Verdict

pytestmark = [pytest.mark.benchmark, pytest.mark.engine]

BASE = os.environ.get("TEST_BASE_IMAGE", "holdout-base")
ROUNDS = 15
COPY = "cp /input/inputs.jsonl /output/predictions.jsonl"


def docker(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["docker", *arguments], input=stdin, capture_output=True, check=False)


@pytest.mark.parametrize("runtime", ["runc", "runsc"])
def test_overhead_of_a_run(tmp_path: Path, runtime: str) -> None:
    """Alternates between `docker run` with bind mounts and the sandbox, with the same container that copies a file."""
    if not shutil.which("docker") or docker("image", "inspect", BASE).returncode:
        pytest.skip(f"needs a Docker engine and the image {BASE}")
    if runtime not in docker("info", "--format", "{{json .Runtimes}}").stdout.decode():
        pytest.skip(f"the engine has no runtime {runtime}")
    image = (
        docker("build", "-q", "-", stdin=f'FROM {BASE}\nCMD ["sh", "-c", "{COPY}"]\n'.encode())
        .stdout.decode()
        .split()[-1]
    )
    (tmp_path / "input").mkdir()
    inputs = tmp_path / "input" / "inputs.jsonl"
    inputs.write_bytes(b'{"id": 1}\n' * 10_000)
    mounts = ("-v", f"{tmp_path}/input:/input:ro", "-v", f"{tmp_path}/output:/output", "--network", "none")
    sandbox = DockerSandbox(instance="benchmark", runtime=runtime)
    sandbox.layers()
    bare, ours, steps = [], [], []
    for number in range(ROUNDS):
        started = time.monotonic()
        assert docker("run", "--rm", "--runtime", runtime, *mounts, image).returncode == 0
        bare.append(time.monotonic() - started)
        with inputs.open("rb") as file:
            execution = SystemExecution(execution_id=f"e{number}", image=image, inputs=file.fileno(), task="t")
            result = sandbox.run(execution, io.BytesIO())
        assert result.verdict == Verdict.DONE
        ours.append(result.total_seconds)
        steps.append(result.timings)
    added = statistics.median(with_sandbox - without for with_sandbox, without in zip(ours, bare, strict=True))
    parts = ", ".join(f"{name} {statistics.median(step[name] for step in steps) * 1000:.0f}" for name in steps[0])
    print(
        f"\n{runtime}: bare docker run {statistics.median(bare) * 1000:.0f} ms (median of {ROUNDS}), ours "
        f"{statistics.median(ours) * 1000:.0f} ms, added {added * 1000:.0f} ms ({parts})"
    )
