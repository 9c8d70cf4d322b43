"""The read side of comparisons: the pairs of a board that stand for its ranks, with p-values corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from uuid import UUID

from evaluator.ranges import ALPHA
from leaderboard.corrected import corrected
from leaderboard.models import Comparison
from leaderboard.standings import Board, Ranges, Row, by_primary

NUMBERS = ("difference", "low", "high", "p", "draws", "n_groups")


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two competing systems, `a` at least as well placed as `b`. None: there is no such number.

    difference: a - b of the primary measure on the whole; low, high: its 95 % interval; p: two-sided; p_holm: corrected
    for all pairs of the board.
    """

    a: Row
    b: Row
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    draws: int
    n_groups: int

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm <= ALPHA


def ranked_pairs(board: Board) -> Sequence[RankedPair]:
    """Every pair in the order of ranks, in one query; none until the board's ranges are ready."""
    if board.leaderboard is None or board.ranges is not Ranges.READY:
        return []
    rows = {row.run_id: row for row in by_primary(board) if row.rank is not None and row.run_id is not None}
    stored = Comparison.objects.filter(leaderboard=board.leaderboard, measure=board.primary, a__in=rows, b__in=rows)
    # Five hundred systems have 124,750 pairs: as rows of a model they take twice the time.
    there = stored.values_list("a_id", "b_id", *NUMBERS, named=True)
    by_pair = {frozenset((one.a_id, one.b_id)): one for one in there}
    measure = board.measure(board.primary)
    family = corrected(
        values={run: row.cell(board.primary).value or 0.0 for run, row in rows.items()},
        comparisons=[(one.a_id, one.b_id, one.p, one.draws) for one in by_pair.values()],
        higher_is_better=measure is None or measure.higher_is_better is not False,
    )
    pairs = [(a, frozenset((a, b))) for a, b in combinations(rows, 2)]
    return [_ranked(rows, by_pair[pair], first, family.p_holm[pair]) for first, pair in pairs]


def _ranked(rows: dict[UUID, Row], stored: Any, first: UUID, p_holm: float | None) -> RankedPair:
    ends = (stored.difference, stored.low, stored.high)
    a, b = stored.a_id, stored.b_id
    if a != first:
        a, b = b, a
        ends = (_minus(stored.difference), _minus(stored.high), _minus(stored.low))
    return RankedPair(rows[a], rows[b], *ends, stored.p, p_holm, stored.draws, stored.n_groups)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
