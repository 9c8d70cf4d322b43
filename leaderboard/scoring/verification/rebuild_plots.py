"""Verification of published plot data: they must equal, byte for byte, plot data recomputed from stored outcomes."""

from __future__ import annotations

from leaderboard.core.storage import AlteredError
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Leaderboard, Phase, ReleasePlot
from leaderboard.scoring.actions import plots
from leaderboard.scoring.verification.rebuild_board import as_bytes


def differences(board: Leaderboard) -> list[str]:
    """Return a text for each release of a board with wrong plot data, such as `plots of release 3`; empty if none.

    Stored plot data are wrong if they differ from those recomputed from the release's outcomes, if they cannot be
    recomputed, or if the release's disclosure policy does not reveal plots. On a board of an earlier task version only
    the policy is checked. Raises SandboxError if the sandbox does not respond.
    """
    plots = ReleasePlot.objects.filter(
        release__phase=board.phase_id,
        release__run__gold_version=board.gold_version_id,
        release__run__task_version=board.task_version,
    )
    is_current = board.task_version == of_board(board).version
    return [
        f"plots of release {plot.release.sequence}"
        for plot in plots.select_related("release__run").order_by("release__sequence")
        if plot.release.policy != Phase.Disclosure.FULL or (is_current and not _follows(plot))
    ]


def _follows(plot: ReleasePlot) -> bool:
    try:
        recomputed = plots.plot_data(plot.release)
    except (plots.NoPlotDataError, ReportError, AlteredError, FileNotFoundError):
        return False
    return as_bytes(plot.content) == as_bytes(plots.content_of(plot.release, recomputed))
