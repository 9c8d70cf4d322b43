"""Labels of containers and volumes, and removal of the orphans that workers left when they died."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from evaluator.sandbox.containers.engine import Engine, EngineError

_log = logging.getLogger(__name__)

PROBE = "health"
"""Execution id in the label of probe containers; several may be running."""
GPU = "gpu"
"""Part in the label of a container that reserves a GPU."""
INSTANCE, EXECUTION, PART, DEADLINE = (f"holdout.{name}" for name in ("instance", "execution", "part", "deadline"))
GPU_LABEL = f"{PART}={GPU}"
"""Label of all reservations of GPUs on an engine, of whatever instance."""


def labels(instance: str, execution: str, part: str, seconds: float) -> dict[str, str]:
    """Return the labels of a container or volume.

    instance: the site's name. execution: the id of the execution to which it belongs. part: its purpose, such as
    `output` or `system`. seconds: the time from now to its deadline, after which it is an orphan.
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
    their containers are created. Containers and volumes past their deadline are removed regardless of `keep`. Nothing
    without this instance's label is ever removed.

    Returns descriptions of the removed containers and volumes. Raises EngineError if containers or volumes cannot be
    listed. What cannot be removed is left for the next call.
    """

    def is_left(labels: dict[str, str] | None, created: float | None, keep_ids: frozenset[str]) -> bool:
        return _is_left(labels, created, instance, keep_ids, min_age_seconds)

    label = f"{INSTANCE}={instance}"
    containers = engine.containers(label)
    keep_ids = keep() if callable(keep) else keep
    left = [found for found in containers if is_left(found.get("Labels"), found.get("Created"), keep_ids)]
    removed = _removed(engine, "container", [(found["Id"], found["Labels"]) for found in left])
    volumes = engine.volumes(label)
    keep_ids = keep() if callable(keep) else keep
    left = [found for found in volumes if is_left(found.get("Labels"), _seconds(found.get("CreatedAt")), keep_ids)]
    removed += _removed(engine, "volume", [(found["Name"], found["Labels"]) for found in left])
    for item in removed:
        _log.warning("removed resources of a dead worker: %s", item)
    return removed


def remove_execution(engine: Engine, instance: str, execution: str) -> bool:
    """Remove the containers and volumes of one execution. Return False if it has none.

    What cannot be removed is left to `reap`. Raises EngineError if containers or volumes cannot be listed.
    """
    labels = (f"{INSTANCE}={instance}", f"{EXECUTION}={execution}")
    containers = [(found["Id"], found["Labels"]) for found in engine.containers(*labels)]
    _removed(engine, "container", containers)
    volumes = [(found["Name"], found["Labels"]) for found in engine.volumes(*labels)]
    _removed(engine, "volume", volumes)
    return bool(containers or volumes)


def _removed(engine: Engine, kind: str, found: list[tuple[str, dict[str, str]]]) -> list[str]:
    """Remove containers or volumes; return descriptions of those that were removed.

    kind: `container` or `volume`. found: (name or id, labels) of each.
    """
    removed: list[str] = []
    in_use: set[str] = set()  # executions with a container that could not be removed, which may use its GPUs
    for name, labels in sorted(found, key=lambda item: item[1].get(PART) == GPU):
        if labels.get(PART) == GPU and labels[EXECUTION] in in_use:
            continue
        try:
            engine.remove(name) if kind == "container" else engine.remove_volume(name)
        except EngineError:
            in_use.add(labels[EXECUTION])
            continue
        removed.append(f"{labels.get(PART)} {kind} of {labels[EXECUTION]}")
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
