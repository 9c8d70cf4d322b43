"""What workers do: an id in, one action out. Run by `celery -A leaderboard.jobs worker`."""

from uuid import UUID

import django

from leaderboard.queue import app

django.setup()

from leaderboard.actions import runs, sweeping  # noqa: E402  (models need django.setup first)


@app.task(name="leaderboard.jobs.score")
def score(run_id: str) -> None:
    runs.score(run_id=UUID(run_id))


@app.task(name="leaderboard.jobs.sweep")
def sweep() -> None:
    sweeping.sweep()
