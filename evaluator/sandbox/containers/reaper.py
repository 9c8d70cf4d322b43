"""Labels of containers and volumes, and removal of the orphans that workers left when they died."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from evaluator.sandbox.containers.engine import Engine, EngineError

PROBE = "health"
"""Execution id in the label of probe containers; several may be running."""
GPU = "gpu"
"""Part in the label of a container that reserves a GPU."""
INSTANCE, EXECUTION, PART, DEADLINE = (f"holdout.{name}" for name in ("instance", "execution", "part", "deadline"))
GPU_LABEL = f"{PART}={GPU}"
"""Label of all reservations of GPUs on an engine, of whatever instance."""


def labels(instance: str, execution: str, part: str, seconds: float) -> dict[str, str]:
    """Return the labels of a container or volume.

    part: what it is for, such as `output` or `system`. seconds: from now until its deadline, after which it is an
    orphan.
    """
    deadline = str(int(time.time() + seconds))
    return {INSTANCE: instance, EXECUTION: execution, PART: part, DEADLINE: deadline}


def reap(
    engine: Engine, instance: str, keep: frozenset[str] | Callable[[], frozenset[str]], min_age_seconds: float
) -> list[str]:
    """Remove this instance's containers, then its volumes, except those of executions in `keep`.

    The reservation of a GPU is removed only after the execution's other containers, which may use the GPU.

    keep: ids of executions, or a function that returns them, which is called after each listing of the engine.

    Containers and volumes that are younger than `min_age_seconds` stay, since they may have been created after a set of
    ids was read. If `keep` is a function, `min_age_seconds` may be 0, provided that executions are recorded before
    their containers are created. What is past its deadline is removed regardless of `keep`. Nothing without this
    instance's label is ever removed.

    Returns descriptions of what was removed. Raises EngineError if containers or volumes cannot be listed. What cannot
    be removed is left for the next call.
    """
    label = f"{INSTANCE}={instance}"
    removed: list[str] = []
    not_removed: set[str] = set()
    containers = sorted(engine.containers(label), key=lambda row: (row.get("Labels") or {}).get(PART) == GPU)
    keep_ids = keep() if callable(keep) else keep
    for container in containers:
        if _is_left(container.get("Labels"), container.get("Created"), instance, keep_ids, min_age_seconds):
            execution = container["Labels"][EXECUTION]
            if container["Labels"][PART] == GPU and execution in not_removed:
                continue
            try:
                engine.remove(container["Id"])
            except EngineError:
                not_removed.add(execution)
                continue
            removed.append(f"{container['Labels'][PART]} container of {container['Labels'][EXECUTION]}")
    volumes = engine.volumes(label)
    keep_ids = keep() if callable(keep) else keep
    for volume in volumes:
        if _is_left(volume.get("Labels"), _seconds(volume.get("CreatedAt")), instance, keep_ids, min_age_seconds):
            try:
                engine.remove_volume(volume["Name"])
            except EngineError:
                continue
            removed.append(f"{volume['Labels'][PART]} volume of {volume['Labels'][EXECUTION]}")
    return removed


def _is_left(
    labels: dict[str, str] | None, created: float | None, instance: str, keep: frozenset[str], min_age_seconds: float
) -> bool:
    if not labels or labels.get(INSTANCE) != instance or EXECUTION not in labels or PART not in labels:
        return False
    deadline = labels.get(DEADLINE, "")
    if deadline.isdigit() and int(deadline) < time.time():
        return True
    if labels[EXECUTION] == PROBE:
        return False  # probes are not recorded; their deadline is half a minute
    return labels[EXECUTION] not in keep and (created or 0) <= time.time() - min_age_seconds


def _seconds(moment: Any) -> float | None:
    """Return the POSIX time of an engine's timestamp, which may have nanoseconds; None if it is invalid."""
    try:
        return datetime.fromisoformat(str(moment).replace("Z", "+00:00")).astimezone(UTC).timestamp()
    except ValueError:
        return None
