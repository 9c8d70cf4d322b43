"""Rows of a board, one per system, with their scores by measure and slice, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from evaluator.disclosure.ladder import Bounds
from leaderboard.boards.disclosure.costs import Cost
from leaderboard.boards.queries.facts import Value as FactValue
from leaderboard.boards.queries.slices import WHOLE, Slice
from leaderboard.models import System

DECIMALS = 3
"""With how many decimals pages write scores, unless these are rounded to a step that has others."""


class ShownScore(NamedTuple):
    """One revealed score of a system on a slice, with its confidence interval.

    value None: no score, or undefined on the slice. low, high: ends of the interval; None: no interval. n: number of
    gold units. bounds: on a ladder, the range of the true score, which `value` rounds towards the measure's worst
    value; else None. decimals: with how many the numbers are written; those of their step.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    bounds: Bounds | None = None
    decimals: int = DECIMALS


NO_SCORE = ShownScore(None)

Key = tuple[str, Slice]
"""(name of a measure, slice), which identifies a score column."""


ShownScores = dict[Key, ShownScore]


class Row(msgspec.Struct, frozen=True):
    """One system of a board, with the submission that represents it.

    A struct, because a frozen dataclass takes ten times as long to create.

    board_id: primary key of the leaderboard; None if the row is not from a stored leaderboard.
    rank: None if the system does not compete or has no value; tied: another system has the same rank.
    system, team: the names shown to this viewer; is_hidden: True if these are not the real names.
    team_id: primary key of the team, to link to its public page; None if the system is anonymous.
    anonymous_until: until then, the public does not see the real names; None: the system is not anonymous.
    received_at: when the submission was received; released_at: when these scores were published.
    scores: revealed scores by measure and slice.
    rank_low, rank_high: rank range from significance tests; None until it is computed, or if it is not revealed.
    cost: cost of the system's container; None if none is shown, and `no_cost` says why.
    disqualified: the organisers' public reason; empty: the system is not disqualified.
    track: name of the track that its submissions declare; empty: the phase has no tracks.
    facts: the values of the facts that the benchmark asks for, by name.
    track_rank: rank among systems of the same track; None if `rank` is None. track_tied: as `tied`, within the track.
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
    board_id: int | None = None
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
    team_id: int | None = None
    facts: Mapping[str, FactValue] = msgspec.field(default_factory=dict)

    @property
    def competes(self) -> bool:
        return self.kind == System.Kind.PARTICIPANT and not self.disqualified

    def score(self, measure: str, slice_: Slice = WHOLE) -> ShownScore:
        """Return the revealed score of a measure on a slice; NO_SCORE if there is none."""
        return self.scores.get((measure, slice_), NO_SCORE)

    def cost_of(self, kind: str) -> float | None:
        """Return the cost of one kind, such as wall_seconds; None if it is not shown."""
        return None if self.cost is None else getattr(self.cost, kind)


def in_order(rows: Iterable[Row], value: Callable[[Row], float | str | None], *, descending: bool) -> list[Row]:
    """Return rows sorted by a value; rows with equal values keep their order.

    In both directions, rows without a value follow those with one, and disqualified rows come last.
    """
    rows = list(rows)
    valued = [row for row in rows if value(row) is not None]
    valued.sort(key=value, reverse=descending)  # type: ignore[arg-type]
    return sorted(valued + [row for row in rows if value(row) is None], key=lambda row: bool(row.disqualified))


def label(key: Key) -> str:
    """Return the name of the score column (measure, slice): `link_f1`, or on a slice `link_f1[property=CEO]`."""
    measure, slice_ = key
    return measure + (f"[{','.join(f'{name}={value}' for name, value in slice_)}]" if slice_ else "")


def scores_on(slice_: Slice, stored: Mapping[str, Sequence[Any]]) -> ShownScores:
    """Build the scores of one slice from stored {measure: [value, low, high, n]}."""
    return {(measure, slice_): ShownScore(*numbers) for measure, numbers in stored.items()}
