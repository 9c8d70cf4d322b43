"""Whose a container or volume is, by its labels; and the removal of what a dead worker left."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from evaluator.sandbox.containers.engine import Engine, EngineError

PROBE = "health"
"""The execution that a probe's container is labelled with; several may be under way."""
INSTANCE, EXECUTION, PART, DEADLINE = (f"holdout.{name}" for name in ("instance", "execution", "part", "deadline"))


def labels(instance: str, execution: str, part: str, seconds: float) -> dict[str, str]:
    """seconds: from now until nobody needs it any more."""
    deadline = str(int(time.time() + seconds))
    return {INSTANCE: instance, EXECUTION: execution, PART: part, DEADLINE: deadline}


def reap(
    engine: Engine, instance: str, keep: frozenset[str] | Callable[[], frozenset[str]], settle_seconds: float
) -> list[str]:
    """Remove this instance's containers, then its volumes, save those of executions in `keep`.

    What is younger than `settle_seconds` stays: a set may have been read before it was made. A function is asked after
    each listing, so what is noted before it is made needs no such time. What is past its deadline goes, whatever `keep`
    says. Nothing without our label is ever touched. Raises EngineError when nothing can be
    listed; what cannot be removed is left for the next time.
    """
    label = f"{INSTANCE}={instance}"
    removed = []
    containers = engine.containers(label)
    kept = keep() if callable(keep) else keep
    for container in containers:
        if _is_left(container.get("Labels"), container.get("Created"), instance, kept, settle_seconds):
            try:
                engine.remove(container["Id"])
            except EngineError:
                continue
            removed.append(f"{container['Labels'][PART]} container of {container['Labels'][EXECUTION]}")
    volumes = engine.volumes(label)
    kept = keep() if callable(keep) else keep
    for volume in volumes:
        if _is_left(volume.get("Labels"), _seconds(volume.get("CreatedAt")), instance, kept, settle_seconds):
            try:
                engine.remove_volume(volume["Name"])
            except EngineError:
                continue
            removed.append(f"{volume['Labels'][PART]} volume of {volume['Labels'][EXECUTION]}")
    return removed


def _is_left(
    labels: dict[str, str] | None, created: float | None, instance: str, keep: frozenset[str], settle_seconds: float
) -> bool:
    if not labels or labels.get(INSTANCE) != instance or EXECUTION not in labels or PART not in labels:
        return False
    deadline = labels.get(DEADLINE, "")
    if deadline.isdigit() and int(deadline) < time.time():
        return True
    if labels[EXECUTION] == PROBE:
        return False  # it has a deadline of half a minute, and nobody notes it
    return labels[EXECUTION] not in keep and (created or 0) <= time.time() - settle_seconds


def _seconds(moment: Any) -> float | None:
    """Of an engine's time stamp, which may have nine digits of a second."""
    try:
        return datetime.fromisoformat(str(moment).replace("Z", "+00:00")).astimezone(UTC).timestamp()
    except ValueError:
        return None
