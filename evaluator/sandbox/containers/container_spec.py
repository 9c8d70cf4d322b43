"""What is run in a container, whatever it is for: what it is given, and which files it owes. Data alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from evaluator.sandbox.containers import scorer_contract, system_contract
from evaluator.sandbox.containers.scorer_contract import ScorerExecution
from evaluator.sandbox.containers.system_contract import FORMAT_VERSION, SystemExecution, SystemLimits

TASK_FILE = "task.json"


@dataclass(frozen=True)
class Given:
    """A file that a container finds: its bytes, or the descriptor of a file that holds them."""

    name: str
    content: bytes | int


@dataclass(frozen=True)
class Wanted:
    """A file that a container leaves: the first of these paths that is there goes to `into`, with `most` bytes."""

    paths: tuple[str, ...]
    into: BinaryIO
    most: int
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class Job:
    """kind: "system" or "scorer", which its container's label tells. folders: mount point -> files, read-only."""

    kind: str
    execution_id: str
    image: str
    limits: SystemLimits
    environment: Mapping[str, str]
    folders: Mapping[str, Sequence[Given]]
    wanted: Sequence[Wanted]

    @property
    def descriptors(self) -> dict[str, int]:
        """Of the files that it is given, by name."""
        given = [file for files in self.folders.values() for file in files]
        return {file.name: file.content for file in given if isinstance(file.content, int)}


def of_system(execution: SystemExecution, predictions: BinaryIO) -> Job:
    """Inputs in, predictions out."""
    told = Given(TASK_FILE, system_task(execution))
    return Job(
        kind="system",
        execution_id=execution.execution_id,
        image=execution.image,
        limits=execution.limits,
        environment=system_environment(execution),
        folders={"/input": [told, Given("inputs.jsonl", execution.inputs)]},
        wanted=[
            Wanted((system_contract.OUTPUT, system_contract.OUTPUT_PACKED), predictions, execution.limits.output_bytes)
        ],
    )


def of_scorer(execution: ScorerExecution, scores: BinaryIO, outcomes: BinaryIO) -> Job:
    """Gold and predictions in, scores and perhaps outcomes out."""
    most = execution.limits.output_bytes
    return Job(
        kind="scorer",
        execution_id=execution.execution_id,
        image=execution.image,
        limits=execution.limits,
        environment=scorer_environment(execution),
        folders={
            "/input": [Given(TASK_FILE, scorer_task(execution))],
            "/gold": [Given("gold.jsonl", execution.gold)],
            "/predictions": [Given("predictions.jsonl", execution.predictions)],
        },
        wanted=[
            Wanted((scorer_contract.SCORES,), scores, min(execution.scores_bytes, most)),
            Wanted((scorer_contract.OUTCOMES,), outcomes, most, required=False),
        ],
    )


def system_task(execution: SystemExecution) -> bytes:
    """What a system finds in /input/task.json."""
    return _written(
        {
            "format_version": FORMAT_VERSION,
            "task": execution.task,
            "options": dict(execution.options),
            "inputs": system_contract.INPUTS,
            "output": system_contract.OUTPUT,
            "limits": _limits(execution.limits),
        }
    )


def scorer_task(execution: ScorerExecution) -> bytes:
    """What a scorer finds in /input/task.json."""
    return _written(
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
    """What a system finds in its environment, beside what its image sets."""
    paths = {"HOLDOUT_INPUTS": system_contract.INPUTS, "HOLDOUT_OUTPUT": system_contract.OUTPUT}
    return {**_environment(execution.task, execution.limits), **paths}


def scorer_environment(execution: ScorerExecution) -> dict[str, str]:
    """The same for a scorer."""
    paths = {
        "HOLDOUT_GOLD": scorer_contract.GOLD,
        "HOLDOUT_PREDICTIONS": scorer_contract.PREDICTIONS,
        "HOLDOUT_SCORES": scorer_contract.SCORES,
        "HOLDOUT_OUTCOMES": scorer_contract.OUTCOMES,
        # Strings are hashed by this in Python: sets come in one order, so that two executions write the same bytes.
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
        # Libraries that count the host's processors would start that many threads.
        "OMP_NUM_THREADS": str(math.ceil(limits.cpus)),
        "HOME": "/tmp",  # noqa: S108
    }


def _limits(limits: SystemLimits) -> dict[str, float]:
    names = ("wall_seconds", "cpus", "memory_bytes", "processes", "tmp_bytes", "output_bytes")
    return {name: getattr(limits, name) for name in names}


def _written(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, indent=1).encode() + b"\n"
