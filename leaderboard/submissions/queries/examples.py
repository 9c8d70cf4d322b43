"""The items of a public gold with a submission's predictions, for its own team."""

from __future__ import annotations

from leaderboard.boards.disclosure.policies import reveals_items
from leaderboard.core.storage import opened
from leaderboard.evaluation import sandbox_client
from leaderboard.submissions.queries.progress import Progress, Revealed

MOST_BYTES = 50_000_000
"""Gold or predictions that are larger are not listed."""


def are_shown(progress: Progress) -> bool:
    """Return whether the items may be listed: gold and inputs are public, and the scores are revealed in full.

    Custom scorers rate items in their own way, so their phases have no list.
    """
    prediction, run = progress.prediction, progress.run
    phase = progress.submission.phase
    return (
        progress.is_over
        and progress.revealed is Revealed.SCORES
        and reveals_items(phase)
        and not phase.split.is_draft
        and run is not None
        and run.scorer_id is None
        and progress.file_is_shown
        and prediction is not None
        and bool(prediction.file)
        and max(prediction.bytes, run.gold_version.bytes) <= MOST_BYTES
    )


def read(progress: Progress, **filters: str | int) -> sandbox_client.Answer:
    """Return the sandbox's answer to the job `examples`, which lists items. Raises SandboxError.

    Only for a submission whose items `are_shown`. filters: fields of the job's ExamplesRequest, by name.
    """
    prediction, run, phase = progress.prediction, progress.run, progress.submission.phase
    assert prediction is not None and run is not None
    with opened(prediction.file, sha256=prediction.sha256) as predictions:
        return sandbox_client.examples(
            gold=run.gold_version,
            predictions=predictions,
            name=prediction.name,
            options={**phase.split.options, **phase.options},
            **filters,
        )
