"""Specification of the job of a system's or scorer's container: its input files, output files and environment."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from evaluator.sandbox.containers import scorer_contract, system_contract
from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.containers.system_contract import FORMAT_VERSION, SystemExecution, SystemLimits

TASK_FILE = "task.json"


class InputFile(msgspec.Struct, frozen=True):
    """An input file of a container. content: its bytes, or an open descriptor of a file that contains them."""

    name: str
    content: bytes | int


class OutputFile(msgspec.Struct, frozen=True):
    """An output file of a container: the first of `paths` that exists is copied to the open file `into`.

    A file of more than `most` bytes is an error, and so is a missing file if it is `required`.
    """

    paths: tuple[str, ...]
    into: BinaryIO
    most: int
    required: bool = True


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one container, which `docker.DockerSandbox` runs.

    kind: "system" or "scorer". folders: mount point -> its files, read-only. output_files: the files to copy from the
    container when it has ended. gpus: number of GPUs, each with at least `gpu_memory_bytes`. The other fields are as in
    SystemExecution.
    """

    kind: str
    execution_id: str
    image: str
    limits: SystemLimits
    environment: Mapping[str, str]
    folders: Mapping[str, Sequence[InputFile]]
    output_files: Sequence[OutputFile]
    gpus: int = 0
    gpu_memory_bytes: int = 0

    @property
    def descriptors(self) -> dict[str, int]:
        """The descriptors of those input files that are given as descriptors, by file name."""
        input_files = [file for files in self.folders.values() for file in files]
        return {file.name: file.content for file in input_files if isinstance(file.content, int)}


def of_system(execution: SystemExecution, predictions: BinaryIO) -> Job:
    """Return the job of a system, which reads the inputs. predictions: the open file to which its output is copied."""
    task_file = InputFile(TASK_FILE, system_task(execution))
    return Job(
        kind="system",
        execution_id=execution.execution_id,
        image=execution.image,
        limits=execution.limits,
        environment=system_environment(execution),
        folders={"/input": [task_file, InputFile("inputs.jsonl", execution.inputs)]},
        output_files=[
            OutputFile(
                (system_contract.OUTPUT, system_contract.OUTPUT_PACKED), predictions, execution.limits.output_bytes
            )
        ],
        gpus=execution.gpus,
        gpu_memory_bytes=execution.gpu_memory_bytes,
    )


def of_scorer(execution: ScorerExecution, scores: BinaryIO, outcomes: BinaryIO) -> Job:
    """Return the job of a scorer, which reads gold and predictions.

    scores, outcomes: the open files to which its outputs are copied; the scorer need not write outcomes.
    """
    most = execution.limits.output_bytes
    return Job(
        kind="scorer",
        execution_id=execution.execution_id,
        image=execution.image,
        limits=execution.limits,
        environment=scorer_environment(execution),
        folders={
            "/input": [InputFile(TASK_FILE, scorer_task(execution))],
            "/gold": [InputFile("gold.jsonl", execution.gold)],
            "/predictions": [InputFile("predictions.jsonl", execution.predictions)],
        },
        output_files=[
            OutputFile((scorer_contract.SCORES,), scores, min(execution.scores_bytes, most)),
            OutputFile((scorer_contract.OUTCOMES,), outcomes, most, required=False),
        ],
    )


def system_task(execution: SystemExecution) -> bytes:
    """Return the content of a system's /input/task.json."""
    return _as_json(
        {
            "format_version": FORMAT_VERSION,
            "task": execution.task,
            "options": dict(execution.options),
            "inputs": system_contract.INPUTS,
            "output": system_contract.OUTPUT,
            "limits": _limits(execution.limits) | ({"gpus": execution.gpus} if execution.gpus else {}),
        }
    )


def scorer_task(execution: ScorerExecution) -> bytes:
    """Return the content of a scorer's /input/task.json."""
    return _as_json(
        {
            "format_version": FORMAT_VERSION,
            "task": execution.task,
            "task_version": execution.task_version,
            "options": dict(execution.options),
            "measures": [dict(measure) for measure in execution.measures],
            "primary": execution.primary,
            "dimensions": {name: list(values) for name, values in execution.dimensions.items()},
            "gold": scorer_contract.GOLD,
            "predictions": scorer_contract.PREDICTIONS,
            "scores": scorer_contract.SCORES,
            "outcomes": scorer_contract.OUTCOMES,
            "limits": _limits(execution.limits),
        }
    )


def system_environment(execution: SystemExecution) -> dict[str, str]:
    """Return a system's environment variables, in addition to its image's."""
    paths = {"HOLDOUT_INPUTS": system_contract.INPUTS, "HOLDOUT_OUTPUT": system_contract.OUTPUT}
    gpus = {"HOLDOUT_GPUS": str(execution.gpus)} if execution.gpus else {}
    return {**_environment(execution.task, execution.limits), **paths, **gpus}


def scorer_environment(execution: ScorerExecution) -> dict[str, str]:
    """Return a scorer's environment variables, in addition to its image's."""
    paths = {
        "HOLDOUT_GOLD": scorer_contract.GOLD,
        "HOLDOUT_PREDICTIONS": scorer_contract.PREDICTIONS,
        "HOLDOUT_SCORES": scorer_contract.SCORES,
        "HOLDOUT_OUTCOMES": scorer_contract.OUTCOMES,
        # A fixed seed for Python's string hashing gives sets one order, so that executions are reproducible.
        "PYTHONHASHSEED": "0",
    }
    return {**_environment(execution.task, execution.limits), **paths}


def _environment(task: str, limits: SystemLimits) -> dict[str, str]:
    return {
        "HOLDOUT_FORMAT_VERSION": str(FORMAT_VERSION),
        "HOLDOUT_TASK": task,
        "HOLDOUT_TASK_FILE": system_contract.TASK,
        "HOLDOUT_WALL_SECONDS": f"{limits.wall_seconds:g}",
        "HOLDOUT_CPUS": f"{limits.cpus:g}",
        "HOLDOUT_MEMORY_BYTES": str(limits.memory_bytes),
        # Otherwise libraries start one thread per processor of the host.
        "OMP_NUM_THREADS": str(math.ceil(limits.cpus)),
        "HOME": "/tmp",  # noqa: S108
    }


def _limits(limits: SystemLimits) -> dict[str, float]:
    names = ("wall_seconds", "cpus", "memory_bytes", "processes", "tmp_bytes", "output_bytes")
    return {name: getattr(limits, name) for name in names}


def _as_json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, indent=1).encode() + b"\n"
