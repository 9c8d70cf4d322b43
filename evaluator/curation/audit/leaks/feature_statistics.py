"""Statistics of hidden values: by the values of a column, along an order, between neighbours.

Sums of squares are brought near a normal shape by their cube root (Wilson & Hilferty 1931), so that features of many
and of few values compare on one scale.
"""

from __future__ import annotations

import numpy as np

from evaluator.curation.audit.leaks.permutation_test import Feature, Hidden, Places

PERIODS = (2, 3, 4, 5)


def by_value(name: str, codes: Places) -> Feature:
    """Do lines of different codes have different hidden values? Pearson's chi-square; Kruskal & Wallis for ranks."""
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


def along(name: str, order: Places) -> list[Feature]:
    """Features of lines in an order. order: places of lines."""
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
        alike = values[1:][values[1:] == values[:-1]]
        return float((1 / hidden.shares)[alike].sum())

    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    return [
        Feature(f"{name}: trend", trend),
        Feature(f"{name}: neighbours", neighbours, signed=True),
        *(by_value(f"{name}: every {period}", place % period) for period in PERIODS if n >= 5 * period),
    ]
