"""Holm adjustment of p-values for multiple testing."""

from collections.abc import Sequence

import numpy as np

ALPHA = 0.05
"""The family-wise error rate at which a difference of two systems is called significant."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm-adjusted p-values (Holm 1979), in the same order.

    Rejecting the null hypotheses whose adjusted p-value is at most alpha has a family-wise error rate of at most alpha
    if each p-value is valid: P(p <= u) <= u under its null hypothesis. The p-values of
    `evaluator.scoring.compare_pairs` are valid; the mid-p values of `evaluator.statistics.permutation_test` are not.
    NaN (no test) stays NaN and does not count as a test.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    multiplied = p[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return adjusted.tolist()
