"""Choice of the pairs of ranked systems to compare, and the rank ranges that their adjusted p-values allow.

All pairs are compared if there are at most MAX_PAIRS. On a larger board, each system is compared with its neighbours in
rank and with the leader. These pairs are chosen by the same values that are tested, which affects the two kinds of
pairs differently:

- A pair with a large difference is less likely to be one of neighbours. So the adjustment for the compared pairs is
  enough: the expected number of truly equal neighbours with p <= u is at most u times that of compared pairs.
- The leader is partly the leader by chance, and its pairs have the largest differences of the board. Of 1,000 equal
  systems, the leader differs "significantly" from some other in half of all cases. But the system that is truly the
  best is only in one pair with each other system, so it is rarely significantly worse than any leader. A significant
  difference from the leader therefore shows that a system is not the best, and nothing about the leader (as in multiple
  comparisons with the best, Hsu 1984).
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.statistics.holm import ALPHA

Indices = npt.NDArray[np.int64]

MAX_PAIRS = 10_000
"""Maximum number of pairs of a board that are compared: all pairs of 141 systems.

With more, the smallest p-value that permutations can give (`evaluator.scoring.compare_pairs.MAX_PERMUTATIONS`) would
not be significant after Holm adjustment, so that no pair of the board could be.
"""


def n_neighbours(n_systems: int) -> int:
    """Return with how many systems directly above it, and directly below it, each system is compared.

    It is the largest number with which at most MAX_PAIRS pairs are compared. If it is n_systems - 1, all pairs are
    compared.
    """

    def n_pairs(k: int) -> int:
        return k * n_systems - k * (k + 1) // 2 + n_systems - 1 - k  # neighbours, and the others with the leader

    return bisect_right(range(1, n_systems), MAX_PAIRS, key=n_pairs)


def compared_pairs(n_systems: int) -> tuple[Indices, Indices]:
    """Return the pairs of systems that are compared, in the order of the better system's rank.

    The pairs are two arrays: the position in the ranking of the better system of each pair, and that of the worse one;
    the leader's position is 0.
    """
    positions = np.arange(n_systems, dtype=np.int64)
    n_worse = np.minimum(n_systems - 1 - positions, n_neighbours(n_systems))
    n_worse[:1] = min(n_systems - 1, MAX_PAIRS)
    better = np.repeat(positions, n_worse)
    return better, better + 1 + np.arange(len(better)) - np.repeat(np.cumsum(n_worse) - n_worse, n_worse)


def rank_ranges(values: Numbers, p_values: Numbers, alpha: float = ALPHA) -> tuple[Indices, Indices]:
    """Return the best and the worst rank of each system that are compatible with the significance tests.

    The best rank is 1 + the number of significantly better neighbours, and at least 2 for a system that is
    significantly worse than the leader. The worst rank is the number of systems minus the number of significantly worse
    neighbours. If all pairs are compared, all systems are neighbours.

    values: the value of the measure of each system, best first. p_values: the adjusted p-values of `compared_pairs`, in
    this order; NaN where there is no test. A difference is significant if its p-value is at most alpha and the two
    values differ.
    """
    n_systems = len(values)
    better, worse = compared_pairs(n_systems)
    significant = (p_values <= alpha) & (values[better] != values[worse])
    near = significant & (worse - better <= n_neighbours(n_systems))
    best = 1 + np.bincount(worse[near], minlength=n_systems)
    beaten = worse[significant]
    best[beaten] = np.maximum(best[beaten], 2)
    return best, n_systems - np.bincount(better[near], minlength=n_systems)
