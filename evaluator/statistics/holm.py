"""Holm adjustment of p-values for multiple testing, and the rank ranges of systems that adjusted p-values allow."""

from collections.abc import Sequence

import numpy as np

from evaluator.outcomes.table import Numbers

ALPHA = 0.05
"""The family-wise error rate at which a difference of two systems is called significant."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm-adjusted p-values (Holm 1979), in the same order.

    Rejecting the null hypotheses whose adjusted p-value is at most alpha has a family-wise error rate of at most alpha
    if each p-value is valid: P(p <= u) <= u under its null hypothesis. Those of `evaluator.scoring.compare_pairs` are;
    the mid-p values of `evaluator.statistics.permutation_test` are not. NaN (no test) stays NaN and does not count as a
    test.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    multiplied = p[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return [float(value) for value in adjusted]


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
