"""The one Django application."""

from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning, register


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Holdout"

    def ready(self) -> None:
        from leaderboard import permissions  # noqa: F401 (models are loaded first)


@register
def check_task_packages(**_: Any) -> list[CheckMessage]:
    """A warning for each installed task that is left out, in `manage.py check` and whenever the server starts."""
    from evaluator.tasks.registry import TASKS

    return [Warning(str(fault), id="leaderboard.W001") for fault in TASKS.faults]
