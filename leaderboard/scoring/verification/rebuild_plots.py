"""Drawings made again from stored outcomes: what was told to be drawn must follow from them byte for byte."""

from __future__ import annotations

from leaderboard.core.storage import AlteredError
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Drawing, Leaderboard, Phase
from leaderboard.scoring.actions import plots
from leaderboard.scoring.verification.rebuild_board import as_bytes


def differences(board: Leaderboard) -> list[str]:
    """The drawings of a board's releases that do not follow from their outcomes, or should not have been told; none
    where all do. Boards of an earlier task version are only asked for the latter. Raises SandboxError (ours)."""
    told = Drawing.objects.filter(
        release__phase=board.phase_id,
        release__run__gold_version=board.gold_version_id,
        release__run__task_version=board.task_version,
    )
    is_present = board.task_version == of_board(board).version
    return [
        f"drawing of release {drawing.release.sequence}"
        for drawing in told.select_related("release__run").order_by("release__sequence")
        if drawing.release.policy != Phase.Disclosure.FULL or (is_present and not _follows(drawing))
    ]


def _follows(drawing: Drawing) -> bool:
    try:
        again = plots.drawn(drawing.release)
    except (plots.NotDrawnError, ReportError, AlteredError, FileNotFoundError):
        return False
    return as_bytes(drawing.content) == as_bytes(plots.content_of(again))
