"""The tasks there are: one explicit registry."""

from typing import Any

from evaluator.errors import UsageError, shown
from evaluator.tasks import (
    fact_checking,
    fact_extraction,
    fact_verification,
    knowledge_base_population,
    link_prediction,
    metric_correlation,
)
from evaluator.tasks.base import Task

__all__ = ["TASKS", "Task", "find_task"]

TASKS: dict[str, Task[Any, Any, Any]] = {
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


def find_task(name: str) -> Task[Any, Any, Any]:
    """Raises UsageError."""
    if name not in TASKS:
        raise UsageError(f"unknown task {shown(name)}, expected one of: {', '.join(TASKS)}")
    return TASKS[name]
