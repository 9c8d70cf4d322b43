"""Permutation tests for rank-based measures without sorting again for each permutation.

Let a' and b' be systems a and b after some groups are swapped. Of the rows of both systems, let w be 1 for those that
belong to a' and 0 for those that belong to b'. AUROC and the covariance of ranks are sums over pairs of rows, U(w) = w
K w for a' and U(1 - w) for b', with a matrix K. In the difference U(w) - U(1 - w) the quadratic terms cancel. What
remains is a sum over rows, so the change from swapping a group does not depend on which other groups are swapped.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.measures.auroc import Auroc
from evaluator.measures.correlation import Spearman
from evaluator.measures.ties import Ties
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Rows

Pair = tuple[int, int]
"""Indices of two systems, (a, b)."""

Masks = npt.NDArray[np.floating[Any]]
"""Groups x permutations, 1 where the group is swapped, else 0; of any precision, all of which are exact."""

_BLOCK = 1 << 17  # numbers processed at a time: few enough to stay in a CPU cache


class PermutedDifferences(ABC):
    """Differences of one measure between pairs of systems, after groups are swapped between the systems."""

    @abstractmethod
    def differences(self, swapped: Masks, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        """Yield for each pair an array with one absolute difference of the measure per permutation.

        The difference is between the two systems of the pair after the swaps, NaN where one of them has no value.
        swapped: groups x permutations, 1 where the group's outcomes are swapped, else 0. pairs: the indices of the two
        systems. The measure must have a value for both systems of each pair before the swaps.
        """


@dataclass(frozen=True)
class _ConcordanceDifference:
    """The difference in the number of concordant row pairs between two systems, as a function of the swapped groups.

    A row pair is a positive and a negative row; it is concordant if the positive one scores higher. Ties count half.

    start: the difference without swaps; group_changes: for each group, the change of the difference when the group is
    swapped; pairs: the number of (positive, negative) row pairs of one system, by which the difference is divided for
    AUROC.
    """

    group_changes: Numbers
    start: float
    pairs: float


class PermutedAuroc(PermutedDifferences):
    """Differences of AUROC between pairs of systems under permutations.

    Both systems of a pair must have the same number of positive rows, and the same number of negative rows.
    """

    def __init__(self, measure: Auroc, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._tables = [measure.transform(table) for table in tables]
        self._cached: dict[Pair, _ConcordanceDifference] = {}

    def differences(self, swapped: Masks, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        for pair in pairs:
            if pair not in self._cached:
                self._cached[pair] = self._weigh(*pair)
        terms = [self._cached[pair] for pair in pairs]
        swapped = swapped.astype(np.float64)
        # Sums of whole numbers and halves are exact in any order, so a pair's results do not depend on other pairs.
        moved = np.array([term.group_changes for term in terms]) @ swapped
        for term, row in zip(terms, moved, strict=True):
            yield np.abs(term.start + row) / term.pairs

    def _weigh(self, a: int, b: int) -> _ConcordanceDifference:
        both = pool(self._tables[a], self._tables[b])
        positive = both.statistics[self._measure.positive] > 0
        concordant = _concordant_pairs(both.statistics[self._measure.score], positive)
        n_groups = self._tables[a].n_groups
        group_changes = np.bincount(both.groups, weights=concordant, minlength=2 * n_groups)
        of_a, of_b = group_changes[:n_groups], group_changes[n_groups:]
        n_positive = np.count_nonzero(positive) / 2
        pairs = n_positive * (len(positive) / 2 - n_positive)
        changes: Numbers = (of_b - of_a).astype(np.float64)
        return _ConcordanceDifference(changes, float(of_a.sum() - concordant[positive].sum()), pairs)


def _concordant_pairs(scores: Numbers, positive: npt.NDArray[np.bool_]) -> Numbers:
    """Return for each row the number of rows of the other class with which it is a concordant pair; ties count half.

    A positive and a negative row are concordant if the positive one scores higher.
    """
    ties = Ties.of(scores)
    negatives, positives = (np.bincount(ties.codes[rows], minlength=len(ties)) for rows in (~positive, positive))
    below = np.cumsum(negatives) - negatives / 2  # negatives below a positive
    above = positives.sum() - np.cumsum(positives) + positives / 2
    concordant: Numbers = np.where(positive, below[ties.codes], above[ties.codes])
    return concordant


class PermutedSpearman(PermutedDifferences):
    """Differences of Spearman's correlation of x and y between pairs of systems under permutations.

    x comes from gold, so that swaps change only y.
    """

    def __init__(self, measure: Spearman, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._tables = [measure.transform(table) for table in tables]
        self._cached: dict[Pair, _Ranked] = {}

    def differences(self, swapped: Masks, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        numbers = swapped.astype(np.float64)
        for pair in pairs:
            if pair not in self._cached:
                a, b = (self._tables[system] for system in pair)
                self._cached[pair] = _Ranked(a, b, self._measure)
            ranked = self._cached[pair]
            step = max(1, _BLOCK // max(ranked.n_rows, 1))
            starts = range(0, swapped.shape[1], step)
            yield np.concatenate([ranked.differences(numbers[:, begin : begin + step]) for begin in starts])


def _centred(column: Numbers) -> Numbers:
    """Return the average rank of each row in the column, minus the mean rank.

    The ranks are whole numbers and halves, so that sums of them are exact.
    """
    ties = Ties.of(column)
    sizes = np.diff(ties.starts, append=len(column))
    ranks: Numbers = (ties.starts + (sizes - 1) / 2 - (len(column) - 1) / 2)[ties.codes]
    return ranks


class _Ranked:
    """The rows of systems a and b together, sorted by y, with sums that give both systems' correlations after any
    swaps.
    """

    def __init__(self, a: Outcomes, b: Outcomes, measure: Spearman) -> None:
        self.n_rows = n = a.n_rows
        x = np.concatenate([_centred(table.statistics[measure.x]) for table in (a, b)])
        self._sum_of_squares_x = float(x[:n] @ x[:n])
        both = np.concatenate([a.statistics[measure.y], b.statistics[measure.y]])
        self._ties = ties = Ties.of(both)
        self._groups: Rows = np.concatenate([a.groups, b.groups])[ties.order].astype(np.int64)
        of_a = ties.order < n
        self._sign = np.where(of_a, -1.0, 1.0)[:, None]
        self._x = x[ties.order][:, None]
        self._size = self._sums(np.ones((2 * n, 1)))
        self._size_a = self._sums(of_a[:, None].astype(np.float64))
        self._x_a = self._sums(of_a[:, None] * self._x)
        # U(w) - U(1 - w), as a sum over rows: K[i, j] is x_i where y_j < y_i, and half of that where y_j = y_i.
        below = np.cumsum(self._size, axis=0) - self._size / 2
        x_above = self._sums(self._x)
        x_above = x_above.sum() - np.cumsum(x_above, axis=0) + x_above / 2
        codes = ties.codes[ties.order]
        by_row = self._x * below[codes] + x_above[codes]
        self._changes = np.bincount(self._groups, weights=(self._sign * by_row)[:, 0], minlength=a.n_groups)
        self._start = float(by_row[of_a].sum() - (self._x * below[codes]).sum())

    def differences(self, swapped: Numbers) -> Numbers:
        """Return the absolute differences of the two systems' Spearman correlations, one per permutation.

        swapped: groups x permutations, 1 where the group is swapped, else 0.
        """
        moved = np.take(swapped, self._groups, axis=0)
        moved *= self._sign
        size = self._sums(moved)
        size += self._size_a
        moved *= self._x
        x = self._sums(moved)
        x += self._x_a
        rank = np.cumsum(size, axis=0)
        rank -= size / 2
        u = np.einsum("ij,ij->j", x, rank)
        other = u - (self._start + self._changes @ swapped)
        return np.abs(self._correlation(u, size) - self._correlation(other, self._size - size))

    def _correlation(self, u: Numbers, size: Numbers) -> Numbers:
        n = self.n_rows
        squared_denominator = (
            self._sum_of_squares_x * ((n**3 - n) - (np.einsum("ij,ij,ij->j", size, size, size) - n)) / 12
        )
        varies = squared_denominator > 0
        return np.where(varies, u / np.sqrt(np.where(varies, squared_denominator, 1.0)), np.nan)

    def _sums(self, rows: Numbers) -> Numbers:
        """Return the sums of `rows` over the rows that share a value of y: distinct values of y x columns of `rows`."""
        sums: Numbers = np.add.reduceat(rows, self._ties.starts, axis=0) if len(rows) else rows
        return sums
