"""Provenance of a run: everything needed to reproduce its scores."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from django.conf import settings

from leaderboard.evaluation.sandbox_client import Answer
from leaderboard.models import Run

SEED = 0
"""One seed for all runs: the same file gets the same interval, regardless of submitter and time."""


def options_of(run: Run) -> dict[str, str]:
    """Return the task's options for this run: the split's, overridden by the phase's."""
    phase = run.prediction.submission.phase
    return {**phase.split.options, **phase.options}


def of(run: Run, answer: Answer) -> dict[str, Any]:
    """Return the receipt of a run: JSON, free of gold. `docs/researchers.md` describes how to reproduce a score.

    The digest of the outcomes is left out: with it, guesses about the gold could be tested offline.
    """
    return {
        "task": run.gold_version.split.dataset.task,
        "task_version": run.task_version,
        "options": options_of(run),
        "code_sha256": answer.code_sha256,
        "gold_version": run.gold_version.number,
        "gold_sha256": run.gold_version.sha256,
        "inputs_sha256": run.prediction.inputs_sha256,
        "predictions_sha256": run.prediction.sha256,
        "seed": SEED,
        "resamples": settings.RESAMPLES,
        "packages": {
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "msgspec": version("msgspec"),
        },
        "sandbox": answer.layers,
        "seconds": round(answer.seconds, 4),
        "sandbox_start_seconds": round(answer.start_seconds, 4),
    }
