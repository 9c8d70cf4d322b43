"""Queries for a system's page: its standing on each board, and the revealed scores of its runs there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import WHOLE, ShownScore, board_state
from leaderboard.boards.queries.as_of import shown_runs
from leaderboard.boards.queries.ladder_bounds import scores_of_release
from leaderboard.models import (
    Benchmark,
    HiddenSubmission,
    Leaderboard,
    Phase,
    Release,
    Standing,
    Submission,
    System,
    Team,
)

OF_A_RECEIPT = ("gold_version", "task", "task_version", "options", "code_sha256", "resamples", "seed", "packages")
"""Public fields of a run's provenance, `seed` only if the gold is public; the team sees files and their digests."""


@dataclass(frozen=True)
class BoardEntry:
    """A board that is or was shown, and the system's standing there."""

    standing: Standing
    phase: Phase
    primary: ShownScore | None

    @property
    def board(self) -> Leaderboard:
        return self.standing.leaderboard

    @property
    def release(self) -> Release:
        return self.standing.release

    @property
    def declared(self) -> Submission:
        """The submission that represents the system on the board, with its phase loaded. It declares a track."""
        submission = self.release.submission
        submission.phase = self.phase
        return submission

    @property
    def is_current(self) -> bool:
        return self.board.state == Leaderboard.State.CURRENT

    @property
    def url(self) -> str:
        """The URL of the board's page."""
        if self.is_current:
            return self.phase.get_absolute_url()
        benchmark, board = self.phase.benchmark, self.board
        return reverse(
            "frozen_board", args=[benchmark.slug, self.phase.slug, board.gold_version.number, board.task_version]
        )

    @property
    def rank_range(self) -> tuple[int, int] | None:
        """(best, worst) rank in the system's rank range; None if it is not computed or the phase does not show it."""
        low, high = self.standing.rank_low, self.standing.rank_high
        return (low, high) if low is not None and high is not None and reveals_comparisons(self.phase) else None

    @property
    def receipt(self) -> dict[str, Any]:
        """The public fields of the run's provenance (OF_A_RECEIPT), such as versions, options and seed."""
        provenance = self.release.run.provenance
        shown = {name: provenance[name] for name in OF_A_RECEIPT if name in provenance}
        return shown if self.phase.split.gold_public else {name: shown[name] for name in shown if name != "seed"}


@dataclass(frozen=True)
class RevealedRun:
    """The revealed overall primary score of one run. at: when its submission was received."""

    system_id: int
    submission_id: UUID
    at: datetime
    score: ShownScore


def entries_of(system: System, viewer: Any) -> list[BoardEntry]:
    """Return a system's standings on boards that the viewer may see: current boards first, and newer before older."""
    return _entries(
        Standing.objects.filter(
            system=system,
            leaderboard__state__in=Leaderboard.PUBLIC,
            leaderboard__phase__benchmark__in=Benchmark.objects.visible_to(viewer).values("pk"),
        )
    )


def named_standings() -> QuerySet[Standing]:
    """Return the standings on current boards of public benchmarks, without those of anonymous systems."""
    standings = Standing.objects.filter(
        leaderboard__state=Leaderboard.State.CURRENT,
        leaderboard__phase__benchmark__in=Benchmark.objects.public().values("pk"),
    )
    return standings.exclude(system__anonymous_until__gt=timezone.now())


def public_entries_of(team: Team) -> list[BoardEntry]:
    """Return the standings of a team's systems which everybody may see by name, on current boards, the newest first."""
    return _entries(named_standings().filter(system__team=team).select_related("system"))


def _entries(standings: QuerySet[Standing]) -> list[BoardEntry]:
    standings = standings.select_related(
        "leaderboard__gold_version",
        "leaderboard__phase__benchmark__dataset",
        "leaderboard__phase__split",
        "leaderboard__phase__scorer",
        "release__run",
        "release__submission",
    )
    entries = [BoardEntry(row, row.leaderboard.phase, primary_score(row.release, row.leaderboard)) for row in standings]
    entries.sort(key=lambda entry: entry.board.pk, reverse=True)
    entries.sort(key=lambda entry: not entry.is_current)
    return entries


def primary_score(release: Release, board: Leaderboard | None = None) -> ShownScore | None:
    """Return a release's revealed overall score on its primary measure; None if it has no value.

    board: the release's board, with its phase loaded; None: it is read from the database if it is needed.
    """
    for score in release.values:
        if score["measure"] == release.primary and not score["slice"] and score["value"] is not None:
            if release.policy == Phase.Disclosure.LADDER:
                return scores_of_release(release, board)[release.primary, WHOLE]
            return ShownScore(score["value"], score["low"], score["high"], score["n"])
    return None


def revealed_on(board: Leaderboard, systems: Iterable[int]) -> Sequence[RevealedRun]:
    """Return the revealed primary scores of these systems on a board, in the order in which submissions were received.

    Hidden submissions, and runs without a primary value, are left out.
    """
    return _revealed(board, board_state.shown_releases(board).filter(submission__system__in=list(systems)))


def _revealed(board: Leaderboard, releases: Iterable[Release]) -> Sequence[RevealedRun]:
    scores = [
        RevealedRun(release.submission.system_id, release.submission_id, release.submission.received_at, value)
        for release in releases
        if (value := primary_score(release, board)) is not None
    ]
    return sorted(scores, key=lambda score: (score.at, str(score.submission_id)))


def records_on(board: Leaderboard, systems: Iterable[int], *, higher_is_better: bool) -> Sequence[RevealedRun]:
    """Return `records` of `revealed_on`, without reading all scores of other runs. `board` has its phase loaded."""
    hidden = HiddenSubmission.objects.now().filter(submission__phase=board.phase_id)
    left_out = set(hidden.values_list("submission", flat=True))
    runs = [run for _, run in shown_runs(board, list(systems)) if run.submission not in left_out]
    runs.sort(key=lambda run: (run.received_at, str(run.submission)))
    valued = [
        RevealedRun(run.system, run.submission, run.received_at, ShownScore(run.value))
        for run in runs
        if run.value is not None
    ]
    best = {run.submission_id for run in records(valued, higher_is_better=higher_is_better)}
    releases = [run.release for run in runs if run.submission in best]
    return _revealed(board, board_state.shown_releases(board).filter(pk__in=releases))


def records(runs: Iterable[RevealedRun], *, higher_is_better: bool = True) -> list[RevealedRun]:
    """Return the runs whose score was better than the scores of all earlier runs, in the order given.

    runs: in the order in which their submissions were received. For one system whose team never chose a submission,
    these are the runs that represented it on the public board; its other runs have never been public.
    """
    best: list[RevealedRun] = []
    for score in runs:
        last = best[-1].score.value if best else None
        value = score.score.value
        if value is not None and (last is None or (value > last if higher_is_better else value < last)):
            best.append(score)
    return best
