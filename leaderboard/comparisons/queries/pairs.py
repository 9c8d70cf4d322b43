"""The read side of comparisons: the pairs of a board that stand for its ranks, with p-values corrected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, overload
from uuid import UUID

import numpy as np
from django.db.models import Count, QuerySet

from evaluator.statistics.multiple_testing import ALPHA
from leaderboard.boards.queries import Board, Ranges, Row, by_primary
from leaderboard.models import Comparison

NUMBERS = ("difference", "low", "high", "p", "draws", "n_groups")


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two competing systems, `a` at least as well placed as `b`. None: there is no such number.

    difference: a - b of the primary measure on the whole; low, high: its interval; p: two-sided; p_holm: corrected
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


class RankedPairs(Sequence[RankedPair]):
    """Every pair in the order of ranks. Five hundred systems have 124,750: only those that are asked for are read.

    The correction needs all p-values and nothing else of the others. Its value hangs on p alone, since equal ones are
    raised alike, and there are few different ones: the database counts them.
    """

    def __init__(self, rows: Sequence[Row], stored: QuerySet[Comparison]) -> None:
        """rows: those that are ranked, best first. stored: what was compared of the board, by the measure that ranks.

        Raises KeyError where a pair was not compared.
        """
        self.rows = {row.run_id: row for row in rows if row.run_id is not None}
        self._runs = list(self.rows)
        self._firsts = np.cumsum([0, *range(len(self._runs) - 1, 0, -1)])
        self._stored = stored.filter(a__in=self._runs, b__in=self._runs)
        counted = list(self._stored.values_list("p").annotate(n=Count("pk")).order_by("p"))
        if sum(n for _, n in counted) != len(self):
            raise KeyError("a pair was not compared")
        tested = [(p, n) for p, n in counted if p is not None]
        self._p_holm = dict(zip([p for p, _ in tested], holm_of_counted(tested), strict=True))

    def __len__(self) -> int:
        return len(self._runs) * (len(self._runs) - 1) // 2

    @overload
    def __getitem__(self, at: int) -> RankedPair: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[RankedPair]: ...
    def __getitem__(self, at: int | slice) -> RankedPair | Sequence[RankedPair]:
        if isinstance(at, slice):
            return self._read([self._pair(place) for place in range(*at.indices(len(self)))])
        return self._read([self._pair(range(len(self))[at])])[0]

    def __iter__(self) -> Iterator[RankedPair]:
        by_pair = self._lines(self._stored)
        return (self._ranked(a, b, by_pair) for a, b in combinations(self._runs, 2))

    def among(self, rows: Iterable[Row]) -> Sequence[RankedPair]:
        """The pairs of these systems alone, in the same order."""
        wanted = {row.run_id for row in rows}
        return self._read(list(combinations([run for run in self._runs if run in wanted], 2)))

    def _pair(self, place: int) -> tuple[UUID, UUID]:
        first = int(np.searchsorted(self._firsts, place, side="right")) - 1
        return self._runs[first], self._runs[first + 1 + place - int(self._firsts[first])]

    def _read(self, pairs: Sequence[tuple[UUID, UUID]]) -> Sequence[RankedPair]:
        runs = {run for pair in pairs for run in pair}
        stored = self._stored if len(runs) == len(self._runs) else self._stored.filter(a__in=runs, b__in=runs)
        by_pair = self._lines(stored)
        return [self._ranked(a, b, by_pair) for a, b in pairs]

    def _lines(self, stored: QuerySet[Comparison]) -> dict[tuple[UUID, UUID], tuple[Any, ...]]:
        found = stored.values_list("a_id", "b_id", *NUMBERS).iterator(chunk_size=5000)
        same = {run: run for run in self._runs}  # one object each, not two a line
        return {(same[line[0]], same[line[1]]): line[2:] for line in found}

    def _ranked(self, a: UUID, b: UUID, by_pair: dict[tuple[UUID, UUID], tuple[Any, ...]]) -> RankedPair:
        there = by_pair.get((a, b))
        if there is None:
            difference, low, high, *rest = by_pair[b, a]
            there = (_minus(difference), _minus(high), _minus(low), *rest)
        difference, low, high, p, draws, n_groups = there
        p_holm = None if p is None else self._p_holm[p]
        return RankedPair(self.rows[a], self.rows[b], difference, low, high, p, p_holm, draws, n_groups)


def ranked_pairs(board: Board) -> RankedPairs | tuple[()]:
    """Every pair in the order of ranks; none until the board's ranges are ready."""
    if board.leaderboard is None or board.ranges is not Ranges.READY:
        return ()
    rows = [row for row in by_primary(board) if row.rank is not None]
    return RankedPairs(rows, Comparison.objects.filter(leaderboard=board.leaderboard, measure=board.primary))


def holm_of_counted(counted: Sequence[tuple[float, int]]) -> list[float]:
    """`evaluator.statistics.multiple_testing.holm` of p-values that come sorted, each with how often it is there."""
    if not counted:
        return []
    p, n = np.array([one for one, _ in counted]), np.array([many for _, many in counted])
    raised = p * (n.sum() - np.concatenate([[0], np.cumsum(n)[:-1]]))
    return [float(one) for one in np.minimum(np.maximum.accumulate(raised), 1.0)]


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
