"""The items of public gold with a submission's predictions for them, listed for the submission's team."""

from __future__ import annotations

from typing import Any

from leaderboard.boards.disclosure.policies import reveals_items
from leaderboard.core.storage import opened
from leaderboard.evaluation import sandbox_client
from leaderboard.submissions.queries.progress import Progress, Revealed

MOST_BYTES = 50_000_000
"""Gold or predictions that are larger are not listed."""


def are_shown(progress: Progress) -> bool:
    """Return whether the items of the gold may be listed with a submission's predictions.

    The submission is scored, its phase reveals items (public gold, full scores), its predictions may be downloaded, and
    neither they nor the gold exceed MOST_BYTES. Custom scorers rate items in their own way, so their phases have no
    list.
    """
    prediction, run = progress.prediction, progress.run
    phase = progress.submission.phase
    return (
        progress.is_over
        and progress.revealed is Revealed.SCORES
        and reveals_items(phase)
        and phase.split_is_shown
        and run is not None
        and run.scorer_id is None
        and progress.file_is_shown
        and prediction is not None
        and bool(prediction.file)
        and max(prediction.bytes, run.gold_version.bytes) <= MOST_BYTES
    )


def read(progress: Progress, **filters: Any) -> sandbox_client.Answer:
    """Return the sandbox's answer to the job `examples`, which lists items with a submission's predictions.

    Call only if `are_shown`. filters: fields of the job's ExamplesRequest, by name. Raises SandboxError.
    """
    prediction, run, phase = progress.prediction, progress.run, progress.submission.phase
    assert prediction is not None and run is not None
    with opened(prediction.file, sha256=prediction.sha256) as predictions:
        gold = run.gold_version
        return sandbox_client.examples(
            {"gold": gold, "predictions": predictions},
            task=gold.split.dataset.task,
            gold_name=str(gold.file.name),
            predictions_name=prediction.name,
            options={**phase.split.options, **phase.options},
            **filters,
        )
