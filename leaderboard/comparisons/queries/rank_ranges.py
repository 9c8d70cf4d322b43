"""Holm correction of a board's pairwise comparisons as one family, and the resulting rank ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import QuerySet

from evaluator.outcomes.table import Numbers
from evaluator.statistics.holm import ALPHA, holm
from evaluator.statistics.rank_ranges import Indices, compared_pairs, n_neighbours, rank_ranges
from leaderboard.models import Comparison, Leaderboard


class PairFamily:
    """The pairs of a board's competing systems that are compared, with the comparisons that are stored.

    runs: the runs that represent the systems, best first, equal ranks in the order of ids. first, second: the positions
    of each pair's runs in `runs` (see `compared_pairs`). is_stored: True if the pair's comparison is stored; p: its
    p-value, NaN without a test; n_permutations: the number of permutations behind p.
    """

    def __init__(self, runs: Sequence[UUID]) -> None:
        self.runs = runs
        self.first, self.second = compared_pairs(len(runs))
        self.is_stored = np.zeros(len(self), dtype=bool)
        self.p = np.full(len(self), np.nan)
        self.n_permutations = np.zeros(len(self), dtype=np.int64)
        self._positions = {run: position for position, run in enumerate(runs)}
        self._indices = {
            pair: index for index, pair in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True))
        }

    def __len__(self) -> int:
        return len(self.first)

    def add(self, comparisons: Iterable[tuple[UUID, UUID, float | None, int]]) -> None:
        """Add stored comparisons: (run id, run id, p-value or None, n_permutations). Other pairs are ignored."""
        for a, b, p, n_permutations in comparisons:
            i, j = self._positions.get(a, -1), self._positions.get(b, -1)
            index = self._indices.get((i, j) if i < j else (j, i))
            if index is not None:
                self.is_stored[index] = True
                self.p[index] = np.nan if p is None else p
                self.n_permutations[index] = n_permutations

    def pairs(self, indices: Indices) -> list[tuple[UUID, UUID]]:
        """Return (run id, run id) of the pairs with these indices, the run that ranks higher first."""
        positions = zip(self.first[indices].tolist(), self.second[indices].tolist(), strict=True)
        return [(self.runs[i], self.runs[j]) for i, j in positions]

    def missing(self) -> list[tuple[UUID, UUID]]:
        """Return (run id, run id) of each pair whose comparison is not stored, in the order of the systems' ranks."""
        return self.pairs(np.flatnonzero(~self.is_stored))

    def p_holm(self) -> Numbers:
        """Return the Holm-corrected p-value of each pair. Raises KeyError if the comparison of a pair is missing."""
        if not self.is_stored.all():
            raise KeyError(f"{self.is_stored.sum()} comparisons are stored, expected one for each of {len(self)} pairs")
        return np.array(holm(self.p.tolist()), dtype=np.float64)

    def p_pairwise(self) -> Numbers:
        """Return the corrected p-value of each compared pair, which shows whether its two systems differ significantly.

        Pairs of neighbours in rank have the values of `p_holm`. The other compared pairs are of the leader and a system
        that is not its neighbour. These are corrected for all pairs of the board, compared or not (Bonferroni), because
        the leader has the best value of all systems. Raises KeyError if the comparison of a pair is missing.
        """
        n_systems = len(self.runs)
        n_all_pairs = n_systems * (n_systems - 1) // 2
        are_neighbours = self.second - self.first <= n_neighbours(n_systems)
        return np.where(are_neighbours, self.p_holm(), np.minimum(self.p * n_all_pairs, 1.0))


@dataclass(frozen=True)
class CorrectedRanking:
    """Rank ranges of a board's systems, in the order of `PairFamily.runs`.

    low, high: best and worst rank of each system's range. n_unresolved: number of pairs that are not significant
    although p is the smallest that their number of permutations allows; more permutations could make them significant.
    """

    low: Indices
    high: Indices
    n_unresolved: int


def correct_and_rank(values: Sequence[float], family: PairFamily) -> CorrectedRanking:
    """Apply Holm's correction to the comparisons of a board's pairs of systems, and return rank ranges.

    values: primary value of each run, in the order of `family.runs`. Raises KeyError if the comparison of a pair is
    missing.
    """
    p_holm = family.p_holm()
    low, high = rank_ranges(np.asarray(values, dtype=np.float64), p_holm)
    is_smallest = family.p <= 1 / (family.n_permutations + 1)  # no permutation had a difference as large
    return CorrectedRanking(low, high, int((is_smallest & (p_holm > ALPHA)).sum()))


def stored(board: Leaderboard, measure: str) -> QuerySet[Comparison]:
    """Return a queryset of the stored comparisons between a board's ranked systems by this measure, in no order."""
    runs = board.standings.filter(rank__isnull=False).order_by().values("release__run")
    return Comparison.objects.filter(leaderboard=board, measure=measure, a__in=runs, b__in=runs)
