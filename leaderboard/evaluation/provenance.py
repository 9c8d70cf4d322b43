"""Provenance of a run (the scoring of a prediction): everything needed to reproduce its scores."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib.metadata import version
from typing import Any

from django.conf import settings

from leaderboard.evaluation.sandbox_client import Answer
from leaderboard.models import GoldVersion, Run

SEED = 0
"""Seed of all resampling on public gold."""


def seed_of(gold: GoldVersion) -> int:
    """Return the seed of all resampling on a gold version, below 2^63; `gold` has its split loaded.

    It is the same for every run and comparison: the same file gets the same confidence intervals, whoever submits it
    and when. On hidden gold it follows from the digest of the gold, so that whoever has the gold can compute it, and
    nobody else can tell from an interval which groups a file has right.
    """
    if gold.split.gold_public:
        return SEED
    digest = hashlib.sha256(f"seed of hidden gold {gold.sha256}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def options_of(run: Run) -> dict[str, str]:
    """Return the task options of a run, value by name: the split's options, overridden by the phase's options."""
    phase = run.prediction.submission.phase
    return {**phase.split.options, **phase.options}


def of(run: Run, answer: Answer) -> dict[str, Any]:
    """Return the receipt of a run: task, versions, digests, options and seed that reproduce its scores, without gold.

    answer: the sandbox's answer to the scoring job. The digest of the outcomes is left out, because anybody could use
    it to test guesses about the gold offline. For the same reason only managers see `gold_sha256` and `seed` of hidden
    gold (`submissions.queries.progress.Progress.receipt`). `docs/researchers.md` describes how to reproduce a score.
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
        "seed": seed_of(run.gold_version),
        "resamples": settings.RESAMPLES,
        "packages": _packages(),
        "sandbox": answer.layers,
        "seconds": round(answer.seconds, 4),
        "sandbox_start_seconds": round(answer.start_seconds, 4),
    }


@functools.cache
def _packages() -> dict[str, str]:
    # Each version is read from a file of the package.
    return {"python": platform.python_version(), "numpy": version("numpy"), "msgspec": version("msgspec")}
