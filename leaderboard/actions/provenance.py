"""What a run was made of, so that its numbers can be made again."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings

import evaluator
from leaderboard.actions.referee import Answer
from leaderboard.models import Run

SEED = 0
"""One seed for all runs: the same file gets the same interval, whoever sends it and whenever."""


def of(run: Run, answer: Answer) -> dict[str, Any]:
    """The receipt of a run: JSON, free of gold."""
    return {
        "task_version": run.task_version,
        "code_sha256": code_sha256(),
        "gold_sha256": run.gold_version.sha256,
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


@cache
def code_sha256() -> str:
    """The digest of the evaluator's sources, in path order."""
    digest = hashlib.sha256()
    root = Path(evaluator.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
