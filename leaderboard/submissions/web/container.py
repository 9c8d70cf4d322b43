"""Container section of a submission's page: stage, limits, costs and log of its container."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from leaderboard.boards.disclosure import costs
from leaderboard.evaluation import container_limits, container_limits_text
from leaderboard.models import Prediction, Stage, State
from leaderboard.submissions.queries.progress import Progress

ABOUT = (
    ("wall_seconds", "Time", "s", "from start to end of the container"),
    ("cpu_seconds", "Processor time", "s", "of all processes together"),
    ("memory_mb", "Peak memory", "MB", "including files in /tmp and /output"),
    ("image_mb", "Image", "MB", "unpacked layers"),
    ("gpu_seconds", "GPU time", "s", "in which its GPUs computed, of all of them together"),
    ("gpu_memory_mb", "Peak GPU memory", "MB", "of all its GPUs together"),
)


@dataclass(frozen=True)
class CostRow:
    """One published cost of a container, such as its peak memory.

    value: in `unit`, rounded up to a coarse step. about: text that says which processes or files the cost includes.
    """

    name: str
    value: float
    unit: str
    about: str

    @property
    def shown(self) -> str:
        return f"{self.value:,g} {self.unit}"


@dataclass(frozen=True)
class Container:
    """Details of a submission's container, as shown on the submission's page.

    stage: what the container does now, as text; empty if it does not run. seconds: time since a worker claimed it; None
    if it is not running, or if the phase's inputs are hidden. wall_seconds: the time limit. rows: all limits. log: end
    of the printed output. log_is_cut: True if the output was longer. log_is_for_managers: True if the viewer manages
    the benchmark and the phase does not show the log to the team. exact: unrounded measurements as (name, value); empty
    except for managers of the benchmark.
    """

    stage: str
    seconds: int | None
    wall_seconds: float
    rows: list[container_limits_text.LimitRow]
    costs: list[CostRow]
    log: str
    log_is_cut: bool
    log_is_for_managers: bool
    exact: list[tuple[str, Any]]


def container(progress: Progress, *, is_manager: bool) -> Container | None:
    """Return the details of a submission's container for its page; None for an uploaded predictions file.

    is_manager: True if the viewer manages the benchmark, and so also sees the log and the exact measurements.
    """
    prediction = progress.prediction
    if prediction is None or not progress.is_container:
        return None
    ran_under = prediction.execution.get("limits", {})
    defaults = container_limits.of(progress.submission.phase).as_dict()
    allowed = container_limits.ContainerLimits(**{name: ran_under.get(name, value) for name, value in defaults.items()})
    return Container(
        stage=Stage(prediction.stage).label if prediction.stage else "",
        seconds=_seconds(prediction) if progress.file_is_shown else None,
        wall_seconds=allowed.wall_seconds,
        rows=container_limits_text.rows(allowed),
        costs=_costs(prediction),
        log=prediction.log if is_manager else progress.log,
        log_is_cut=bool(prediction.execution.get("log_is_cut")),
        log_is_for_managers=is_manager and not progress.submission.phase.logs_are_shown,
        exact=list(_exact(prediction)) if is_manager else [],
    )


def _seconds(prediction: Prediction) -> int | None:
    if prediction.state != State.RUNNING or prediction.started_at is None:
        return None
    return max(0, int((timezone.now() - prediction.started_at).total_seconds()))


def _costs(prediction: Prediction) -> list[CostRow]:
    cost = costs.of(prediction).as_dict()
    return [
        CostRow(name, value, unit, about) for key, name, unit, about in ABOUT if (value := cost.get(key)) is not None
    ]


def _exact(prediction: Prediction) -> list[tuple[str, Any]]:
    """Return (name, value) of a container's unrounded costs and of the record of its execution.

    A value in an inner object has a name such as `limits.cpus`.
    """
    rows: list[tuple[str, Any]] = []
    for name, value in {**prediction.cost, **prediction.execution}.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{key}", item) for key, item in value.items()]
        else:
            rows.append((name, value))
    return rows
