"""How many units two scorings order alike: the longest chain that rises in both."""

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers


def longest_common_order(a: Numbers, b: Numbers) -> int:
    """The most units that can be kept so that a strictly rising function takes their a to their b.

    Units that tie in a must tie in b, and the other way round. O(n log n) time, n the number of units.
    """
    cells, counts = np.unique(np.stack([_ranks(a), _ranks(b)]), axis=1, return_counts=True)
    # Within one value of a the greatest b first: a chain that must rise in b takes one of them.
    order = np.lexsort((-cells[1], cells[0]))
    rising, weights = cells[1][order], counts[order]
    if np.all(weights == 1):
        return _longest(rising)
    return _heaviest(rising, weights)


def _ranks(values: Numbers) -> npt.NDArray[np.int64]:
    """0 for the least value, and so on; equal values share one."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def _longest(numbers: npt.NDArray[np.int64]) -> int:
    """The longest strictly rising subsequence (Fredman 1975)."""
    ends: list[int] = []
    for number in numbers.tolist():
        place = bisect_left(ends, number)
        if place == len(ends):
            ends.append(number)
        else:
            ends[place] = number
    return len(ends)


def _heaviest(numbers: npt.NDArray[np.int64], weights: npt.NDArray[np.int64]) -> int:
    """The greatest weight of a strictly rising subsequence, by a tree of maxima over prefixes (Fenwick 1994)."""
    size = int(numbers.max()) + 1 if len(numbers) else 0
    tree = [0] * (size + 1)
    best = 0
    for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
        reached, place = weight, number
        before = 0
        while place > 0:
            before = max(before, tree[place])
            place -= place & -place
        reached += before
        best = max(best, reached)
        place = number + 1
        while place <= size:
            tree[place] = max(tree[place], reached)
            place += place & -place
    return best
