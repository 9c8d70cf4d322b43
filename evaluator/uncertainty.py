"""Intervals by a cluster bootstrap: whole groups are drawn again, with replacement, as often as there are groups.

Rows of one group (the passages of a document, the members of a symmetric quadruple) are not independent, so they are
drawn together. All measures and slices of a run see the same draws. Percentile intervals: they stay inside the
measure's bounds, need no assumption of symmetry, and are what readers of the field expect (Efron & Tibshirani 1993,
chapter 13; for clusters Field & Welsh 2007).
"""

from collections.abc import Iterator

import numpy as np

from evaluator.outcomes import Numbers

LEVEL = 0.95
_MAX_WEIGHTS = 4_000_000  # numbers held at once: 32 MB


def group_weights(n_groups: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """How often each group was drawn: groups x some of the resamples, until all were given.

    The draws depend on the seed and on the number of groups only.
    """
    random = np.random.default_rng([seed, n_groups])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, resamples, step):
        drawn = random.integers(0, n_groups, size=(min(step, resamples - begin), n_groups))
        counts = np.empty(drawn.shape)
        for row, groups in zip(counts, drawn, strict=True):
            row[:] = np.bincount(groups, minlength=n_groups)
        yield np.ascontiguousarray(counts.T)


def percentile_intervals(values: Numbers, level: float = LEVEL) -> tuple[Numbers, Numbers]:
    """(low, high) of each row of `values` (scores x resamples), linear between order statistics.

    NaN (a resample without the slice's units) is left out; a row without any value has NaN for both.
    """
    ordered = np.sort(values, axis=1)  # NaN last
    n = np.count_nonzero(~np.isnan(ordered), axis=1)
    tail = (1 - level) / 2
    return _quantile(ordered, n, tail), _quantile(ordered, n, 1 - tail)


def _quantile(ordered: Numbers, n: np.ndarray[tuple[int, ...], np.dtype[np.int64]], share: float) -> Numbers:
    place = np.maximum(n - 1, 0) * share
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    rows = np.arange(len(ordered))
    below, above = ordered[rows, lower], ordered[rows, upper]
    result = below + (above - below) * (place - lower)
    return np.where(n > 0, result, np.nan)
