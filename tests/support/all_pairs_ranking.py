"""Rank ranges of a board of which all pairs are compared, by dictionaries and a matrix: slow, and easy to check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

import numpy as np

from evaluator.outcomes.table import Numbers
from evaluator.statistics.holm import ALPHA, holm

Pair = frozenset[UUID]


@dataclass(frozen=True)
class CorrectedRanking:
    """Holm-corrected p-values, and rank ranges, of the runs that represent a board's competing systems.

    p_holm: by pair of runs; None: there is no test. ranges: (lowest rank, highest rank) by run. n_pairs: number
    of all pairs. n_unresolved: number of pairs that are not significant although p is the smallest that their number of
    permutations allows; more permutations could make them significant.
    """

    p_holm: Mapping[Pair, float | None]
    ranges: Mapping[UUID, tuple[int, int]]
    n_pairs: int
    n_unresolved: int


def correct_and_rank(
    *,
    values: Mapping[UUID, float],
    comparisons: Iterable[tuple[UUID, UUID, float | None, int]],
    higher_is_better: bool,
) -> CorrectedRanking:
    """Apply Holm's correction to the comparisons of all pairs of these runs, as one family, and return rank ranges.

    values: primary value by run. comparisons: (run, run, p-value or None, n_permutations); those with other runs are
    ignored. Raises KeyError if the comparison of a pair is missing.
    """
    tests = {
        frozenset((a, b)): (p, n_permutations) for a, b, p, n_permutations in comparisons if a in values and b in values
    }
    runs = list(values)
    family = [frozenset(pair) for pair in combinations(runs, 2)]
    p_values = [tests[pair][0] for pair in family]
    adjusted = holm([np.nan if p is None else p for p in p_values])
    p_holm = {pair: None if np.isnan(p) else p for pair, p in zip(family, adjusted, strict=True)}
    matrix = np.full((len(runs), len(runs)), np.nan)
    for (i, a), (j, b) in combinations(enumerate(runs), 2):
        p = p_holm[frozenset((a, b))]
        matrix[i, j] = matrix[j, i] = np.nan if p is None else p
    ranges = rank_ranges(list(values.values()), matrix, higher_is_better=higher_is_better)
    unresolved = [
        pair
        for pair in family
        if (adjusted_p := p_holm[pair]) is not None and adjusted_p > ALPHA and _is_smallest(*tests[pair])
    ]
    return CorrectedRanking(p_holm, dict(zip(runs, ranges, strict=True)), len(family), len(unresolved))


def _is_smallest(p: float | None, n_permutations: int) -> bool:
    """Return True if p is the smallest possible: no permutation had a difference as large as the observed one."""
    return p is not None and p <= 1 / (n_permutations + 1)


def rank_ranges(
    values: Sequence[float], p_values: Numbers, *, higher_is_better: bool = True, alpha: float = ALPHA
) -> list[tuple[int, int]]:
    """Return (best, worst) rank of each of n systems that is compatible with the significance tests.

    The best rank is 1 + the number of significantly better systems, the worst is n - the number of significantly worse
    systems. values: the measure of each system; p_values: n x n, Holm-adjusted, NaN where there is no test; a
    difference is significant if its p-value is at most alpha.
    """
    oriented = np.asarray(values, dtype=np.float64) * (1 if higher_is_better else -1)
    n = len(oriented)
    significant = np.asarray(p_values) <= alpha
    better = significant & (oriented[None, :] > oriented[:, None])  # [i, j]: j is better than i
    worse = significant & (oriented[None, :] < oriented[:, None])
    return [
        (1 + int(above), n - int(below)) for above, below in zip(better.sum(axis=1), worse.sum(axis=1), strict=True)
    ]
