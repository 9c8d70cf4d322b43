"""What workers do: an id in, one action out. Run by `celery -A leaderboard.jobs worker`."""

from uuid import UUID

import django

from leaderboard.queue import app

django.setup()

from leaderboard.actions import (  # noqa: E402  (models need django.setup first)
    comparisons,
    predictions,
    runs,
    sweeping,
    workers,
)


@app.task(name="leaderboard.jobs.score")
def score(run_id: str) -> None:
    runs.score(run_id=UUID(run_id))


@app.task(name="leaderboard.jobs.predict")
def predict(prediction_id: str) -> None:
    predictions.predict(prediction_id=UUID(prediction_id))


@app.task(name="leaderboard.jobs.report")
def report() -> None:
    workers.report()


@app.task(name="leaderboard.jobs.compare")
def compare(board_id: str) -> None:
    comparisons.compare(board_id=int(board_id))


@app.task(name="leaderboard.jobs.sweep")
def sweep() -> None:
    sweeping.sweep()
    comparisons.sweep()
