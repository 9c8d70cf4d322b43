"""What ranks mean: p-values corrected for their number, and the ranks that a system may have."""

from collections.abc import Sequence

import numpy as np

from evaluator.outcomes.table import Numbers

ALPHA = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p as corrected for all of them (Holm 1979): rejecting what is at most alpha errs in any with at most alpha.

    The order is kept. NaN (no test) stays NaN and does not count.
    """
    given = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    raised = given[order] * np.arange(len(order), 0, -1)
    corrected = np.full(len(given), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return [float(p) for p in corrected]


def rank_ranges(
    values: Sequence[float], p_values: Numbers, *, higher_is_better: bool = True, alpha: float = ALPHA
) -> list[tuple[int, int]]:
    """(first, last) rank of each of n systems: 1 + how many are significantly better, n - how many are worse.

    values: one a system; p_values: n x n, corrected, NaN where there is no test.
    """
    scores = np.asarray(values, dtype=np.float64) * (1 if higher_is_better else -1)
    n = len(scores)
    significant = np.asarray(p_values) <= alpha
    better = significant & (scores[None, :] > scores[:, None])  # [i, j]: j is better than i
    worse = significant & (scores[None, :] < scores[:, None])
    return [
        (1 + int(above), n - int(below)) for above, below in zip(better.sum(axis=1), worse.sum(axis=1), strict=True)
    ]
