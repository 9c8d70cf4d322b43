"""Rows of a board, one a system, with their scores by measure and slice, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from leaderboard.boards.disclosure.costs import Cost
from leaderboard.boards.queries.slices import WHOLE, Slice
from leaderboard.models import System


class ShownScore(NamedTuple):
    """One revealed score with its interval. value None: undefined there. low, high None: no interval. n: gold units."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


NO_SCORE = ShownScore(None)

Key = tuple[str, Slice]
"""(measure, slice)."""


ShownScores = dict[Key, ShownScore]


@dataclass(frozen=True)
class Row:
    """One system of a board. rank None: it does not compete, or has no value.

    rank_low, rank_high: its rank range, from significant differences; None until computed.
    received_at: of its submission; released_at: when these scores were published, which a rescoring repeats.
    cost: of its container, None if not shown; `no_cost` says why. disqualified: the organisers' public reason.
    anonymous_until: hidden from the public until then; `system` and `team` are the names shown to this reader, and
    is_hidden is True if those are not the real names.
    track: declared by its submissions, empty if the phase has no tracks; track_rank: rank within the track, None
    without a rank.
    """

    rank: int | None
    tied: bool
    system: str
    team: str
    kind: str
    description: str
    paper_url: str
    code_url: str
    system_id: int
    submission_id: UUID
    received_at: datetime
    released_at: datetime
    warnings: Sequence[str]
    scores: Mapping[Key, ShownScore]
    run_id: UUID | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    cost: Cost | None = None
    no_cost: str = ""
    disqualified: str = ""
    anonymous_until: datetime | None = None
    is_hidden: bool = False
    track: str = ""
    track_title: str = ""
    track_rank: int | None = None
    track_tied: bool = False

    @property
    def competes(self) -> bool:
        return self.kind == System.Kind.PARTICIPANT and not self.disqualified

    def score(self, measure: str, slice_: Slice = WHOLE) -> ShownScore:
        """Return the revealed score, or one without a value."""
        return self.scores.get((measure, slice_), NO_SCORE)

    def spent(self, kind: str) -> float | None:
        """Return the cost of a kind in costs.KINDS, or None."""
        return None if self.cost is None else self.cost.as_dict()[kind]


def in_order(rows: Iterable[Row], value: Callable[[Row], float | str | None], *, descending: bool) -> list[Row]:
    """Sort rows by a value, stably; rows without one come last in either direction, then disqualified ones."""
    rows = list(rows)
    valued = [row for row in rows if value(row) is not None]
    valued.sort(key=value, reverse=descending)  # type: ignore[arg-type]
    return sorted(valued + [row for row in rows if value(row) is None], key=lambda row: bool(row.disqualified))


def label(key: Key) -> str:
    """Return a column's name: `link_f1`, or `link_f1[property=CEO]`."""
    measure, slice_ = key
    return measure + (f"[{','.join(f'{name}={value}' for name, value in slice_)}]" if slice_ else "")


def scores_on(slice_: Slice, stored: Mapping[str, Sequence[Any]]) -> ShownScores:
    """Build the scores of one slice from stored {measure: [value, low, high, n]}."""
    return {(measure, slice_): ShownScore(*numbers) for measure, numbers in stored.items()}
