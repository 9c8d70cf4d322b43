"""The Django application."""

from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning, register


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Holdout"

    def ready(self) -> None:
        from leaderboard.core import db_schema, tracing
        from leaderboard.operations import error_reports

        # Django loads its middleware later, and workers fork later.
        tracing.set_up()
        error_reports.set_up()
        db_schema.known()


@register
def check_task_packages(**_: Any) -> list[CheckMessage]:
    """Return a warning for each installed task that could not be loaded.

    Django shows it at startup and in `manage.py check`.
    """
    from evaluator.tasks.registry import TASKS

    return [Warning(str(problem), id="leaderboard.W001") for problem in TASKS.problems]
