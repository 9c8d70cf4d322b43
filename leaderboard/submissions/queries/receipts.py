"""A submission's receipt as a document: what its numbers were made of, the numbers, and the command that makes them."""

from __future__ import annotations

import shlex
from typing import Any

from leaderboard.submissions.queries.progress import Progress

GOLD, PREDICTIONS, TASK = "/gold/gold.jsonl", "/predictions/predictions.jsonl", "/input/task.json"
"""Where a scorer image finds its files (`evaluator.sandbox.containers.scorer_contract`)."""


def document(progress: Progress) -> dict[str, Any]:
    """JSON for whoever shall check a number; empty until the submission is scored.

    `receipt` is what the API calls so; `scores` are those that were revealed.
    """
    submission, release = progress.submission, progress.release
    if not progress.receipt or release is None:
        return {}
    return {
        "benchmark": submission.phase.benchmark.slug,
        "phase": submission.phase.slug,
        "split": submission.phase.split.name,
        "submission": str(submission.pk),
        "system": submission.system.name,
        "team": submission.system.team.name,
        # Only where it says something, so that receipts of phases without tracks stay as they were.
        **({"track": submission.track} if submission.track else {}),
        "received_at": submission.received_at.isoformat(),
        "receipt": progress.receipt,
        "primary": release.primary,
        "scores": release.values,
        "command": command(progress.receipt),
    }


def command(receipt: dict[str, Any]) -> str:
    """What makes the same numbers again, where GOLD and PREDICTIONS are the files whose sha256 the receipt names.

    Empty for a receipt that was written before they named task and options. What an organisers' own scorer gave takes
    its image, and a TASK_FILE as `docs/curators.md` shows one: the organisers have both.
    """
    if "scorer" in receipt:
        words = ["docker", "run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp"]  # noqa: S108
        for name, path in (("GOLD", GOLD), ("PREDICTIONS", PREDICTIONS), ("TASK_FILE", TASK)):
            words += ["--volume", f"{name}:{path}:ro"]
        return shlex.join([*words, "--volume", "OUTPUT:/output", receipt["scorer"]["image"]])
    if "task" not in receipt:
        return ""
    words = ["python", "-m", "evaluator", "score", receipt["task"], "--gold", "GOLD", "PREDICTIONS"]
    for name, value in receipt["options"].items():
        words += ["--option", f"{name}={value}"]
    words += ["--resamples", str(receipt["resamples"]), "--seed", str(receipt["seed"]), "--json"]
    return shlex.join(words)
