"""Registry of tasks: the built-in tasks, and those of installed packages (entry point group `holdout.tasks`).

An entry point's name is the task's name, and its object is an instance of `Task`:

    [project.entry-points."holdout.tasks"]
    text-classification = "holdout_text_classification:TASK"

A package that cannot be used is skipped without affecting the others; `problems` gives the reason.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError, shown
from evaluator.measures.base import Measure
from evaluator.tasks import (
    fact_checking,
    fact_extraction,
    fact_verification,
    knowledge_base_population,
    link_prediction,
    metric_correlation,
)
from evaluator.tasks.base import AnyTask, Task

__all__ = ["GROUP", "TASKS", "MissingTaskError", "Task", "TaskProblem", "find_task", "import_paths"]

GROUP = "holdout.tasks"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST_NAME = 60
_DECLARED = (
    "version",
    "title",
    "summary",
    "dimensions",
    "gold_format",
    "prediction_format",
    "prediction_example",
    "audit",
)


class MissingTaskError(KeyError):
    """No task has this name: the package that defines it is not installed here, or could not be used."""

    def __str__(self) -> str:
        return f"The task {self.args[0]} is not installed on this server."


@dataclass(frozen=True)
class TaskProblem:
    """An entry point that cannot be used.

    name: the name of the entry point. package: the name and version of its distribution. why: the reason.
    """

    name: str
    package: str
    why: str

    def __str__(self) -> str:
        return f"task {shown(self.name)} of {self.package} is not loaded: {self.why}"


@dataclass
class _Installed:
    tasks: dict[str, AnyTask] = field(default_factory=dict)
    problems: dict[str, list[TaskProblem]] = field(default_factory=dict)


class Tasks(Mapping[str, AnyTask]):
    """Mapping of task names to tasks: the built-in tasks in their given order, then those of packages by name.

    Packages are loaded when a name is looked up that is not built in, or when all tasks are listed, so that a process
    that uses only built-in tasks does not load them.
    """

    def __init__(self, built_in: Mapping[str, AnyTask]) -> None:
        self.built_in = built_in
        self._lock = threading.RLock()
        self._loaded: _Installed | None = None

    def __getitem__(self, name: str) -> AnyTask:
        """Return the task with this name. Raises MissingTaskError if there is none."""
        task = self.built_in.get(name) or self._installed().tasks.get(name)
        if task is None:
            raise MissingTaskError(name)
        return task

    def __iter__(self) -> Iterator[str]:
        return iter([*self.built_in, *self._installed().tasks])

    def __len__(self) -> int:
        return len(self.built_in) + len(self._installed().tasks)

    @property
    def problems(self) -> list[TaskProblem]:
        """The entry points of tasks that cannot be used, in the order of their names."""
        return [problem for _, problems in sorted(self._installed().problems.items()) for problem in problems]

    def leave_out(self, name: str, why: str) -> None:
        """Remove a package's task from this process after it has failed in use.

        name: the name of the task. why: the reason, which `problems` then gives.
        """
        installed = self._installed()
        task = installed.tasks.pop(name)
        package = type(task).__module__.partition(".")[0]
        installed.problems.setdefault(name, []).append(TaskProblem(name, package, why))

    def _installed(self) -> _Installed:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self.built_in)
            return self._loaded


def _load(built_in: Mapping[str, AnyTask]) -> _Installed:
    installed = _Installed()
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        by_name.setdefault(entry.name, []).append(entry)
    for name, entries in sorted(by_name.items()):
        packages = sorted(_package(entry) for entry in entries)
        if name in built_in:
            reasons = ["the name is taken by a built-in task"] * len(entries)
        elif len(entries) > 1:
            # It is unknown which of them is meant, and the scores of a benchmark must not depend on a guess.
            reasons = [f"the name is taken twice, by {' and '.join(packages)}"] * len(entries)
        else:
            task, reason = _loaded(entries[0])
            reasons = [reason] if task is None else []
            installed.tasks |= {} if task is None else {name: task}
        if reasons:
            installed.problems[name] = [TaskProblem(name, *pair) for pair in zip(packages, reasons, strict=True)]
    return installed


def _loaded(entry: EntryPoint) -> tuple[AnyTask | None, str]:
    """Return (the task, "") of an installed package's entry point, or (None, the reason why it cannot be used)."""
    try:
        task = entry.load()
        return (None, reason) if (reason := _reason_unusable(entry.name, task)) else (task, "")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - no failure of a package may affect the others
        return None, f"{entry.value} does not load: {type(error).__name__}: {error}"


def _reason_unusable(name: str, task: Any) -> str:
    """Return the reason why an object cannot be the task of this name; empty if it can."""
    if not isinstance(task, Task):
        description = f"the class {task.__name__}" if isinstance(task, type) else f"of type {type(task).__name__}"
        return f"the object is {description}, expected an instance of evaluator.tasks.base.Task"
    missing = [
        attribute
        for attribute in ("name", *_DECLARED, "measures", "gold_only", "samples")
        if not hasattr(task, attribute)
    ]
    if missing:
        return f"the task does not declare {', '.join(missing)}"
    if task.name != name:
        return f"the task's name is {shown(task.name)}, expected the entry point's name"
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        return f"the name is not valid, expected lower-case words joined by hyphens, at most {_LONGEST_NAME} characters"
    if not task.samples:
        return "the task has no samples, expected at least one pair of small gold and predictions"
    if not task.measures or not all(isinstance(measure, Measure) for measure in task.measures):
        return "the task has no measures, expected at least one evaluator.measures.base.Measure"
    if task.primary() not in {measure.name for measure in task.measures}:
        return f"the primary measure is {shown(task.primary())}, expected one of the task's measures"
    return ""


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"


def import_paths() -> list[str]:
    """Return the folders from which packages' tasks are imported, for the `--path` option of a sandbox server."""
    folders = (entry.dist.locate_file("") for entry in entry_points(group=GROUP) if entry.dist is not None)
    return sorted({str(Path(str(folder)).resolve()) for folder in folders})


TASKS = Tasks(
    {
        task.name: task
        for task in (
            knowledge_base_population.TASK,
            fact_verification.TASK,
            fact_checking.TASK,
            link_prediction.TASK,
            fact_extraction.TASK,
            metric_correlation.TASK,
        )
    }
)


def find_task(name: str) -> AnyTask:
    """Return the task with this name. Raises UsageError if there is none."""
    if name not in TASKS:
        reason = "".join(f" ({problem})" for problem in TASKS.problems if problem.name == name)
        raise UsageError(f"unknown task {shown(name)}, expected one of: {', '.join(TASKS)}{reason}")
    return TASKS[name]
