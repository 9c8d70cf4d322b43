"""Rules for which release represents a system on a board, and for ranks. They use revealed values only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from leaderboard.models import Release, System


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A release, as a candidate to represent its system.

    release, system, submission: ids. sequence: position among the releases of its phase. kind: the system's.
    value: revealed overall value of the primary measure; None if there is none.
    """

    release: int
    sequence: int
    system: int
    kind: str
    submission: UUID
    received_at: datetime
    value: float | None

    @classmethod
    def of(cls, release: Release, value: float | None) -> ShownRun:
        """Return the candidate for a release, loaded with its submission and system, and its revealed primary value."""
        submission = release.submission
        return cls(
            release=release.pk,
            sequence=release.sequence,
            system=submission.system_id,
            kind=submission.system.kind,
            submission=submission.pk,
            received_at=submission.received_at,
            value=value,
        )


def represented(runs: Iterable[ShownRun], *, chosen: Mapping[int, UUID], sign: int) -> dict[int, ShownRun]:
    """Return, by system id, the release that represents each system: that of the chosen submission, else the best one.

    Of releases with equal values, the one whose submission was received first wins; if none has a value, the one that
    was released first.
    chosen: by system id, the id of the submission that its team chose. sign: +1 if higher values are better, else -1.
    """

    def merit(release: ShownRun) -> tuple[bool, bool, float, float]:
        has_value = release.value is not None
        order = release.received_at.timestamp() if has_value else release.sequence
        return release.submission == chosen.get(release.system), has_value, sign * (release.value or 0.0), -order

    best: dict[int, ShownRun] = {}
    for release in runs:
        previous = best.get(release.system)
        if previous is None or merit(release) > merit(previous):
            best[release.system] = release
    return best


def ranked(best: Mapping[int, ShownRun], *, out: Collection[int], sign: int) -> dict[int, int]:
    """Return the ranks of the competing systems with a value, by system id; equal values share a rank (1, 1, 3).

    best: by system id, the release that represents it. out: ids of disqualified systems, which are not ranked. sign: as
    for `represented`.
    """
    values = {
        system: sign * release.value
        for system, release in best.items()
        if release.value is not None and system not in out and release.kind == System.Kind.PARTICIPANT
    }
    ranks: dict[float, int] = {}
    for rank, value in enumerate(sorted(values.values(), reverse=True), start=1):
        ranks.setdefault(value, rank)
    return {system: ranks[value] for system, value in values.items()}
