"""The read side of a system: the boards on which it stands, and what was told of its runs on each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import Cell, board_state
from leaderboard.models import Benchmark, Leaderboard, Phase, Release, Standing, Submission, System

OF_A_RECEIPT = ("gold_version", "task", "task_version", "options", "code_sha256", "resamples", "seed", "packages")
"""What everybody is told of how a number was made; files and their digests are their team's."""


@dataclass(frozen=True)
class Place:
    """One board that is or was shown, and the system's row there. rank None: it is not ranked."""

    standing: Standing
    phase: Phase
    primary: Cell | None

    @property
    def board(self) -> Leaderboard:
        return self.standing.leaderboard

    @property
    def release(self) -> Release:
        return self.standing.release

    @property
    def declared(self) -> Submission:
        """The submission that represents it, with its phase: what tells its track."""
        submission = self.release.submission
        submission.phase = self.phase
        return submission

    @property
    def is_current(self) -> bool:
        return self.board.state == Leaderboard.State.CURRENT

    @property
    def rank_range(self) -> tuple[int, int] | None:
        """The ranks that differences leave open, where the phase tells them and they are computed."""
        low, high = self.standing.rank_low, self.standing.rank_high
        return (low, high) if low is not None and high is not None and reveals_comparisons(self.phase) else None

    @property
    def receipt(self) -> dict[str, Any]:
        """What made the numbers, as far as everybody may know it."""
        made = self.release.run.provenance
        return {name: made[name] for name in OF_A_RECEIPT if name in made}


@dataclass(frozen=True)
class Told:
    """The primary measure of one run, as it was revealed."""

    system_id: int
    submission_id: UUID
    at: datetime
    cell: Cell


def places_of(system: System, reader: Any) -> list[Place]:
    """The boards of benchmarks that the reader may see, current ones first, then the latest."""
    standings = Standing.objects.filter(
        system=system,
        leaderboard__state__in=Leaderboard.PUBLIC,
        leaderboard__phase__benchmark__in=Benchmark.objects.visible_to(reader).values("pk"),
    ).select_related(
        "leaderboard__gold_version",
        "leaderboard__phase__benchmark__dataset",
        "leaderboard__phase__split",
        "leaderboard__phase__scorer",
        "release__run",
        "release__submission",
    )
    found = [Place(row, row.leaderboard.phase, primary_cell(row.release)) for row in standings]
    found.sort(key=lambda place: place.board.pk, reverse=True)
    found.sort(key=lambda place: not place.is_current)
    return found


def primary_cell(release: Release) -> Cell | None:
    """The primary measure of the whole as it was revealed; None: nothing was."""
    for score in release.values:
        if score["measure"] == release.primary and not score["slice"] and score["value"] is not None:
            return Cell(score["value"], score["low"], score["high"], score["n"])
    return None


def told_on(board: Leaderboard, systems: Iterable[int]) -> Sequence[Told]:
    """Every score that a board's releases told of these systems, in the order in which their submissions came; of
    hidden ones none."""
    releases = board_state.shown_releases(board).filter(submission__system__in=list(systems))
    found = [
        Told(release.submission.system_id, release.submission_id, release.submission.received_at, cell)
        for release in releases
        if (cell := primary_cell(release)) is not None
    ]
    return sorted(found, key=lambda told: (told.at, str(told.submission_id)))


def records(told: Iterable[Told], *, higher_is_better: bool = True) -> list[Told]:
    """Those that were better than all before them: of one system the runs that stood on its board for everybody.

    What never stood there is its team's own business.
    """
    found: list[Told] = []
    for one in told:
        last = found[-1].cell.value if found else None
        value = one.cell.value
        if value is not None and (last is None or (value > last if higher_is_better else value < last)):
            found.append(one)
    return found
