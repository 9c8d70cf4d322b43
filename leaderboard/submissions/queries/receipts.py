"""Receipt documents of submissions: provenance, revealed scores, and the command that reproduces the scores."""

from __future__ import annotations

import shlex
from typing import Any

from leaderboard.submissions.queries.progress import Progress

GOLD, PREDICTIONS, TASK = "/gold/gold.jsonl", "/predictions/predictions.jsonl", "/input/task.json"
"""Paths of a scorer image's input files (`evaluator.sandbox.containers.scorer_contract`)."""


def document(progress: Progress) -> dict[str, Any]:
    """Return the content of a submission's `receipt.json`; empty until its scores are published.

    The key `receipt` has the provenance, as in the API's field `receipt`; `scores` has the revealed scores.
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
        # Omitted if empty: receipts of phases without tracks are the same as before there were tracks.
        **({"track": submission.track} if submission.track else {}),
        "received_at": submission.received_at.isoformat(),
        "receipt": progress.receipt,
        "primary": release.primary,
        "scores": release.values,
        "command": command(progress.receipt),
    }


def command(receipt: dict[str, Any]) -> str:
    """Return the shell command that reproduces the scores; empty for an old receipt without the task's name.

    receipt: the provenance, as `Progress.receipt` returns it. In the command, GOLD and PREDICTIONS stand for the paths
    of the files whose digests the receipt contains, and SEED for a seed that it does not show. For a custom scorer the
    command runs the scorer's image; TASK_FILE stands for the task file that docs/curators.md describes, which the
    organisers have, and OUTPUT for a folder.
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
    words += ["--resamples", str(receipt["resamples"]), "--seed", str(receipt.get("seed", "SEED")), "--json"]
    return shlex.join(words)
