"""Publication of a release's plot data, such as ROC curves: with the release, or later if it was stored without them.

A release is the publication of a run's scores.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from evaluator.disclosure.ladder import Scores
from evaluator.jobs.compare import PlotReport
from leaderboard.boards.disclosure.policies import reveal_plots, reveals_plots
from leaderboard.boards.queries.slices import raw_slice_key
from leaderboard.core import row_locks
from leaderboard.evaluation import plot_checks, sandbox_client, stored_outcomes
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Leaderboard, Phase, Release, ReleasePlot


class NoPlotDataError(Exception):
    """The sandbox could not compute plot data from stored outcomes. The message says why and reveals no gold."""


def store_plot_data(
    release: Release | None, data: plot_checks.PlotData | None, scores: Scores | None = None
) -> ReleasePlot | None:
    """Store the plot data of a release if the disclosure policy reveals plots (`_may_reveal`); return the new row.

    Returns None, and stores nothing, if `release` or `data` is None, if the data are empty, or if the policy reveals
    none of them. scores: all of the run, with `n_groups`; None: they are read. Call in the transaction that creates the
    release, or with the phase's row locked.
    """
    if release is None or data is None or data.is_empty or not _may_reveal(release):
        return None
    content = content_of(release, data, scores)
    if not content:
        return None
    return ReleasePlot.objects.create(release=release, content=content, created_at=timezone.now())


def _groups(scores: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of groups of each slice, by its key; only tasks, which report it, have plot data."""
    groups: dict[str, int] = {}
    for score in scores:
        key = raw_slice_key(score["slice"])
        groups[key] = max(groups.get(key, 1), score["n_groups"] or 1)
    return groups


def _may_reveal(release: Release) -> bool:
    """Return True if both the policy under which the release was stored and the phase's current policy reveal plots."""
    return release.policy == Phase.Disclosure.FULL and reveals_plots(release.phase)


def plot_data(release: Release) -> plot_checks.PlotData:
    """Compute the plot data of a release in the sandbox, from the stored outcomes of its run.

    Raises NoPlotDataError if the sandbox cannot compute plot data from the outcomes, ReportError if it returns invalid
    ones, SandboxError if it does not respond, and FileNotFoundError or AlteredError if the stored outcomes are missing
    or altered.
    """
    run = release.run
    with stored_outcomes.opened(run) as table:
        answer = sandbox_client.plot({"table": table})
    if not answer.ok:
        raise NoPlotDataError(
            f"the sandbox returned no plot data (reason: {answer.reason})"
            if answer.reason
            else "the stored outcomes are of another task version than the installed task"
        )
    data = answer.read(PlotReport).plot_data
    if wrong := plot_checks.problem(data):
        raise ReportError(wrong)
    return data


def without_plot_data(board: Leaderboard) -> models.QuerySet[Release]:
    """Return the releases of a board that have no plot data but can get them, in the order of their sequence numbers.

    Empty if the board is of an earlier task version or of a custom scorer, or if the phase's disclosure policy reveals
    no plots.
    """
    scored = of_board(board)
    if scored.scorer is not None or board.task_version != scored.version or not reveals_plots(board.phase):
        return Release.objects.none()
    releases = Release.objects.filter(
        phase=board.phase_id,
        policy=Phase.Disclosure.FULL,
        run__gold_version=board.gold_version_id,
        run__task_version=board.task_version,
    )
    return releases.filter(plot=None).exclude(run__outcomes="").select_related("run", "phase").order_by("sequence")


def add_plot_data(release: Release) -> ReleasePlot | None:
    """Compute and store the plot data of a release; return the new row. Raises the exceptions of `plot_data`.

    Idempotent: returns None if another process has stored the plot data in the meantime, or if the disclosure policy
    does not reveal plots.
    """
    data = plot_data(release)
    try:
        with transaction.atomic():
            # The policy may have changed since the data were computed.
            release.phase = row_locks.lock_phase(release.phase_id)
            return store_plot_data(release, data)
    except IntegrityError:  # another process has stored them in the meantime
        return None


def content_of(release: Release, data: plot_checks.PlotData, scores: Scores | None = None) -> dict[str, Any]:
    """Return the plot data of a release as `ReleasePlot` stores them: as they are shown; {} if they are not.

    scores: as for `store_plot_data`.
    """
    return reveal_plots(
        release.phase,
        msgspec.to_builtins(data),
        scores=release.values,
        primary=release.primary,
        groups=functools.cache(
            lambda: _groups(release.run.scores.values("slice", "n_groups") if scores is None else scores)
        ),
    )
