"""Pairwise comparisons of a board's ranked systems, with Holm-corrected p-values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, overload
from uuid import UUID

import numpy as np
from django.db.models import Count, QuerySet

from evaluator.statistics.holm import ALPHA
from leaderboard.boards.queries import Board, Ranges, Row, by_primary
from leaderboard.models import Comparison

NUMBERS = ("difference", "low", "high", "p", "n_permutations", "n_groups")


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Comparison of two ranked systems, of which `a` has the better rank or the same. Numbers are None if undefined.

    difference: a - b on the overall primary measure. low, high: ends of its confidence interval. p: two-sided p-value.
    p_holm: p, Holm-corrected for all pairs of the board. n_permutations: permutations behind p. n_groups: resampled
    groups of gold units.
    """

    a: Row
    b: Row
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    n_permutations: int
    n_groups: int

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm <= ALPHA


class RankedPairs(Sequence[RankedPair]):
    """A lazy sequence of all pairs in the order of ranks: 500 systems have 124,750, and only requested pairs are read.

    Holm's correction of one p-value depends on all p-values of the board. Equal p-values have equal corrected values,
    and few p-values are distinct, so that only the distinct ones are read, with their counts.
    """

    def __init__(self, rows: Sequence[Row], stored: QuerySet[Comparison]) -> None:
        """Read the distinct p-values. rows: ranked systems, best first. stored: comparisons by the primary measure.

        Raises KeyError if a comparison of two of these systems is not stored.
        """
        self.rows = {row.run_id: row for row in rows if row.run_id is not None}
        self._runs = list(self.rows)
        self._firsts = np.cumsum([0, *range(len(self._runs) - 1, 0, -1)])
        self._stored = stored.filter(a__in=self._runs, b__in=self._runs)
        counted = list(self._stored.values_list("p").annotate(n=Count("pk")).order_by("p"))
        if sum(n for _, n in counted) != len(self):
            raise KeyError(
                f"{sum(n for _, n in counted)} comparisons are stored, expected one for each of {len(self)} pairs"
            )
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
            return self._read([self._pair(index) for index in range(*at.indices(len(self)))])
        return self._read([self._pair(range(len(self))[at])])[0]

    def __iter__(self) -> Iterator[RankedPair]:
        by_pair = self._lines(self._stored)
        return (self._ranked(a, b, by_pair) for a, b in combinations(self._runs, 2))

    def among(self, rows: Iterable[Row]) -> Sequence[RankedPair]:
        """Return the pairs of which both systems are in `rows`, in the order of ranks."""
        runs = {row.run_id for row in rows}
        return self._read(list(combinations([run for run in self._runs if run in runs], 2)))

    def _pair(self, index: int) -> tuple[UUID, UUID]:
        first = int(np.searchsorted(self._firsts, index, side="right")) - 1
        return self._runs[first], self._runs[first + 1 + index - int(self._firsts[first])]

    def _read(self, pairs: Sequence[tuple[UUID, UUID]]) -> Sequence[RankedPair]:
        runs = {run for pair in pairs for run in pair}
        stored = self._stored if len(runs) == len(self._runs) else self._stored.filter(a__in=runs, b__in=runs)
        by_pair = self._lines(stored)
        return [self._ranked(a, b, by_pair) for a, b in pairs]

    def _lines(self, stored: QuerySet[Comparison]) -> dict[tuple[UUID, UUID], tuple[Any, ...]]:
        lines = stored.values_list("a_id", "b_id", *NUMBERS).iterator(chunk_size=5000)
        interned = {run: run for run in self._runs}  # saves memory: one UUID object a run, not two a line
        return {(interned[line[0]], interned[line[1]]): line[2:] for line in lines}

    def _ranked(self, a: UUID, b: UUID, by_pair: dict[tuple[UUID, UUID], tuple[Any, ...]]) -> RankedPair:
        numbers = by_pair.get((a, b))
        if numbers is None:
            difference, low, high, *rest = by_pair[b, a]
            numbers = (_negated(difference), _negated(high), _negated(low), *rest)
        difference, low, high, p, n_permutations, n_groups = numbers
        p_holm = None if p is None else self._p_holm[p]
        return RankedPair(self.rows[a], self.rows[b], difference, low, high, p, p_holm, n_permutations, n_groups)


def ranked_pairs(board: Board) -> RankedPairs | tuple[()]:
    """Return all pairs of a board's ranked systems, in the order of ranks; () until the rank ranges are ready."""
    if board.leaderboard is None or board.ranges is not Ranges.READY:
        return ()
    rows = [row for row in by_primary(board) if row.rank is not None]
    return RankedPairs(rows, Comparison.objects.filter(leaderboard=board.leaderboard, measure=board.primary))


def holm_of_counted(counted: Sequence[tuple[float, int]]) -> list[float]:
    """Return the Holm-corrected p-value of each distinct p-value, as `evaluator.statistics.holm.holm` does.

    counted: (p-value, number of comparisons with it), smallest p-value first.
    """
    if not counted:
        return []
    p, n = np.array([p_value for p_value, _ in counted]), np.array([count for _, count in counted])
    adjusted = p * (n.sum() - np.concatenate([[0], np.cumsum(n)[:-1]]))
    return [float(p_holm) for p_holm in np.minimum(np.maximum.accumulate(adjusted), 1.0)]


def _negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
