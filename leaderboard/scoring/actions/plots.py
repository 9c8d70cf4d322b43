"""What of a run's outcomes is told to be drawn: with its release, or later for releases that came without."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from evaluator.jobs.compare import DrawReport
from leaderboard.boards.disclosure.policies import reveals_drawings
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import plot_checks, sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Drawing, Leaderboard, Phase, Release


class NotDrawnError(Exception):
    """The sandbox made no drawing of stored outcomes; the text says why, and nothing of gold."""


def keep(release: Release | None, drawing: plot_checks.Drawing | None) -> Drawing | None:
    """Tell what is to be drawn of a release, as far as its phase's policy lets it out. Call in the transaction that
    publishes. None: nothing is told, or there is nothing."""
    if release is None or drawing is None or drawing.is_empty or not _may_tell(release):
        return None
    return Drawing.objects.create(release=release, content=content_of(drawing), made_at=timezone.now())


def _may_tell(release: Release) -> bool:
    """By the policy that it was made under, and by the one that holds."""
    return release.policy == Phase.Disclosure.FULL and reveals_drawings(release.phase)


def drawn(release: Release) -> plot_checks.Drawing:
    """What there is to draw of a release, from its run's stored outcomes.

    Raises NotDrawnError and ReportError; SandboxError (ours); FileNotFoundError or AlteredError for outcomes that are
    gone.
    """
    run = release.run
    with opened(run.outcomes) as table:
        check_digest(table, run.outcomes_sha256)
        answer = sandbox_client.draw(table=table)
    if not answer.ok:
        raise NotDrawnError(answer.reason or "the outcomes are of another task version")
    drawing = answer.read(DrawReport).drawing
    if wrong := plot_checks.problem(drawing):
        raise ReportError(wrong)
    return drawing


def undrawn(board: Leaderboard) -> models.QuerySet[Release]:
    """The releases of a board that came without a drawing and could have one: those of the task's present version."""
    scored = of_board(board)
    if scored.scorer is not None or board.task_version != scored.version or not reveals_drawings(board.phase):
        return Release.objects.none()
    there = Release.objects.filter(
        phase=board.phase_id,
        policy=Phase.Disclosure.FULL,
        run__gold_version=board.gold_version_id,
        run__task_version=board.task_version,
    )
    return there.filter(drawing=None).exclude(run__outcomes="").select_related("run", "phase").order_by("sequence")


def draw(release: Release) -> Drawing | None:
    """Give a release its drawing, computed anew; safe to repeat. Raises what `drawn` raises."""
    drawing = drawn(release)
    try:
        with transaction.atomic():
            # As the policy stands when it is written, which may have changed since it was computed.
            release.phase = Phase.objects.select_for_update().get(pk=release.phase_id)
            return keep(release, drawing)
    except IntegrityError:  # somebody else drew it at the same moment
        return None


def content_of(drawing: plot_checks.Drawing) -> dict[str, Any]:
    """As it is stored."""
    content: dict[str, Any] = msgspec.to_builtins(drawing)
    return content
