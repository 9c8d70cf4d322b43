"""Longest common order: the largest number of units that two lists of scores order in the same way."""

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers


def longest_common_order(a: Numbers, b: Numbers) -> int:
    """Return the size of the largest set of units that the scores a and b put in the same order.

    a, b: one score per unit. Units of the set that tie in a must tie in b, and vice versa. The time is O(n log n) for n
    units.
    """
    rank_pairs, counts = np.unique(np.stack([_ranks(a), _ranks(b)]), axis=1, return_counts=True)
    # Sorted by a, and within one value of a by descending b, so that an increasing subsequence of b contains at most
    # one value of b for each value of a.
    order = np.lexsort((-rank_pairs[1], rank_pairs[0]))
    rising, weights = rank_pairs[1][order], counts[order]
    if np.all(weights == 1):
        return _longest(rising)
    return _heaviest(rising, weights)


def _ranks(values: Numbers) -> npt.NDArray[np.int64]:
    """Return each value's dense rank: 0 for the smallest value; equal values share a rank."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def _longest(numbers: npt.NDArray[np.int64]) -> int:
    """Return the length of the longest strictly increasing subsequence of `numbers` (Fredman 1975)."""
    ends: list[int] = []
    for number in numbers.tolist():
        index = bisect_left(ends, number)
        if index == len(ends):
            ends.append(number)
        else:
            ends[index] = number
    return len(ends)


def _heaviest(numbers: npt.NDArray[np.int64], weights: npt.NDArray[np.int64]) -> int:
    """Return the largest sum of weights of a strictly increasing subsequence of `numbers`, which has one weight each.

    It uses a tree of prefix maxima (Fenwick 1994).
    """
    size = int(numbers.max()) + 1 if len(numbers) else 0
    tree = [0] * (size + 1)
    best = 0
    for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
        reached, index = weight, number
        before = 0
        while index > 0:
            before = max(before, tree[index])
            index -= index & -index
        reached += before
        best = max(best, reached)
        index = number + 1
        while index <= size:
            tree[index] = max(tree[index], reached)
            index += index & -index
    return best
