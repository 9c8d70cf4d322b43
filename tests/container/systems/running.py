"""Runs the tests' program in the container sandbox, and checks what it leaves behind."""

from __future__ import annotations

import functools
import io
import itertools
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.system_contract import SystemExecution, SystemLimits, SystemResult
from evaluator.sandbox.contract import Verdict
from tests.container import engine

INPUTS = b"".join(b'{"id": %d}\n' % number for number in range(1000))
LIMITS: dict[str, Any] = {
    "wall_seconds": 60.0,
    "memory_bytes": 256 << 20,
    "tmp_bytes": 16 << 20,
    "output_bytes": 1 << 20,
    "output_files": 20,
    "processes": 64,
}
_numbers = itertools.count(1)
_VOLUME = re.compile(r"/volumes/([0-9a-f]{64})/_data$")  # of Docker, which chooses the name


@functools.cache
def known_runtimes() -> frozenset[str]:
    output = engine.docker("info", "--format", "{{json .Runtimes}}").stdout
    return frozenset(json.loads(output))


@dataclass
class Done:
    """A result and the bytes of the output."""

    result: SystemResult
    content: bytes

    @property
    def found(self) -> Any:
        """The program's findings, which it writes as JSON."""
        assert self.result.verdict == Verdict.DONE, (self.result.verdict, self.result.explanation, self.result.log)
        return json.loads(self.content)


class Systems:
    def __init__(self, sandbox: DockerSandbox, image: str, folder: Path) -> None:
        self.sandbox = sandbox
        self.image = image
        self.instance = sandbox.instance
        self.inputs = folder / "inputs.jsonl"
        self.inputs.write_bytes(INPUTS)

    def execution(
        self,
        do: str = "copy",
        *,
        image: str = "",
        limits: dict[str, Any] | None = None,
        execution_id: str = "",
        **options: Any,
    ) -> Any:
        """Return a function of `inputs`, a descriptor, that returns an execution."""
        return functools.partial(
            SystemExecution,
            execution_id=execution_id or f"execution-{next(_numbers)}",
            image=image or self.image,
            task="fact-verification",
            options={"do": do, **options},
            limits=SystemLimits(**{**LIMITS, **(limits or {})}),
        )

    def run(self, do: str = "copy", *, keep_going: Callable[[], bool] | None = None, **more: Any) -> Done:
        predictions = io.BytesIO()
        with self.inputs.open("rb") as inputs:
            execution = self.execution(do, **more)(inputs=inputs.fileno())
            return Done(self.sandbox.run(execution, predictions, keep_going=keep_going), predictions.getvalue())

    def variant(self, *lines: str) -> str:
        """Build the program's image with further Dockerfile lines; return its id."""
        return build(f"FROM {self.image}\n" + "\n".join(lines) + "\n")

    def left(self) -> list[str]:
        """Return the existing containers, volumes and mounts of this sandbox."""
        label = f"label=holdout.instance={self.instance}"
        containers = engine.docker("ps", "--all", "--quiet", "--filter", label).stdout.split()
        volumes = engine.docker("volume", "ls", "--quiet", "--filter", label).stdout.split()
        # Other tests create and remove volumes meanwhile: only a mount that belongs to none of them is left over.
        volume_names = set(engine.docker("volume", "ls", "--quiet").stdout.split())
        mounted = [_VOLUME.search(line.split()[1]) for line in Path("/proc/mounts").read_text().splitlines()]
        volume_names |= set(engine.docker("volume", "ls", "--quiet").stdout.split())
        return containers + volumes + [match[1] for match in mounted if match and match[1] not in volume_names]

    def check_nothing_is_left(self) -> None:
        assert self.left() == []

    def check_an_honest_run(self) -> None:
        done = self.run()
        assert (done.result.verdict, done.content) == (Verdict.DONE, INPUTS), done.result


def build(dockerfile: str) -> str:
    """Build an image without a context; return its id."""
    done = subprocess.run(
        ["docker", "build", "--quiet", "-"], input=dockerfile.encode(), capture_output=True, check=True
    )
    return done.stdout.decode().split()[-1]
