"""Test statistics of label leaks: how far hidden values depend on a feature of the lines or on their order.

Sums of squares are made approximately normal by their cube root (Wilson & Hilferty 1931), so that features with many
and with few values are comparable.
"""

from __future__ import annotations

import numpy as np

from evaluator.curation.audit.leaks.max_t_test import Feature, Hidden, Indices

PERIODS = (2, 3, 4, 5)


def by_value(name: str, codes: Indices) -> Feature:
    """Return a `Feature` whose test statistic is high if lines with different codes have different hidden values.

    The statistic is the cube root of Pearson's chi-square for classes, and of the Kruskal-Wallis statistic, up to
    constants, for ranks. name: the feature's name. codes: the feature's code of each line, from 0.
    """
    sizes = np.bincount(codes).astype(np.float64)

    def statistic(hidden: Hidden) -> float:
        if hidden.shares is None:
            total = (np.bincount(codes, weights=hidden.values) ** 2 / sizes).sum()
        else:
            n = len(hidden.shares)
            table = np.bincount(codes * n + hidden.values, minlength=len(sizes) * n).reshape(-1, n)
            total = (table**2 / np.outer(sizes, hidden.shares)).sum() - len(codes)
        return float(np.cbrt(max(total, 0.0)))

    return Feature(name, statistic)


def along(name: str, order: Indices) -> list[Feature]:
    """Return the features of one order of the lines: trend, neighbours, and one for each of PERIODS.

    The trend relates hidden values to positions, neighbours relates adjacent hidden values, and a period k relates
    hidden values to positions modulo k; orders of fewer than 5 k lines have no period k. name: the order's name, with
    which the features' names begin. order: the indices of all lines, from the first position to the last.
    """
    n = len(order)
    ranks = np.empty(n)
    ranks[order] = (np.arange(n) - (n - 1) / 2) / np.sqrt((n * n - 1) / 12)

    def trend(hidden: Hidden) -> float:
        if hidden.shares is None:
            return float(np.cbrt((ranks @ hidden.values) ** 2 / n))
        sums = np.bincount(hidden.values, weights=ranks, minlength=len(hidden.shares))
        return float(np.cbrt((sums**2 / hidden.shares).sum() / n))

    def neighbours(hidden: Hidden) -> float:
        values = hidden.values[order]
        if hidden.shares is None:
            return float(values[1:] @ values[:-1])
        equal = values[1:][values[1:] == values[:-1]]
        return float((1 / hidden.shares)[equal].sum())

    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    return [
        Feature(f"{name}: trend", trend),
        Feature(f"{name}: neighbours", neighbours, signed=True),
        *(by_value(f"{name}: every {period}", position % period) for period in PERIODS if n >= 5 * period),
    ]
