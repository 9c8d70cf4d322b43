"""The one Django application."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Holdout"

    def ready(self) -> None:
        from leaderboard import permissions  # noqa: F401 (models are loaded first)
