"""Statistics of hidden values: by the values of a column, along an order, between neighbours.

Each takes the columns that `exchanges.hidden_columns` makes. Sums of squares are brought near a normal shape by their
cube root (Wilson & Hilferty 1931), so that features of many and of few values compare on one scale.
"""

from __future__ import annotations

import numpy as np

from evaluator.curation.audit.exchanges import Feature, Places
from evaluator.outcomes import Numbers

PERIODS = (2, 3, 4, 5)


def by_value(name: str, codes: Places) -> Feature:
    """Do lines of different codes have different hidden values? Pearson's chi-square; Kruskal & Wallis for ranks."""
    sizes = np.bincount(codes).astype(np.float64)

    def statistic(hidden: Numbers) -> float:
        total = 0.0
        for column in hidden.T:
            sums = np.bincount(codes, weights=column, minlength=len(sizes))
            total += float((sums**2 / sizes).sum())
        return float(np.cbrt(total))

    return Feature(name, statistic)


def along(name: str, order: Places) -> list[Feature]:
    """Features of lines in an order. order: places of lines."""
    n = len(order)
    ranks = np.empty(n)
    ranks[order] = (np.arange(n) - (n - 1) / 2) / np.sqrt((n * n - 1) / 12)

    def trend(hidden: Numbers) -> float:
        return float(np.cbrt(((ranks @ hidden) ** 2).sum() / n))

    def neighbours(hidden: Numbers) -> float:
        sorted_ = hidden[order]
        return float((sorted_[1:] * sorted_[:-1]).sum())

    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    return [
        Feature(f"{name}: trend", trend),
        Feature(f"{name}: neighbours", neighbours, signed=True),
        *(by_value(f"{name}: every {period}", place % period) for period in PERIODS if n >= 5 * period),
    ]
