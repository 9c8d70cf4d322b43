"""Paired permutation test: groups are swapped at random between two systems and the measure is computed again.

If the systems were equal, a group's two sets of outcomes would be interchangeable, so every permutation gives a
difference as likely as the observed one (Fisher 1935; for F1 and the like Yeh 2000). Whole groups of outcomes are
swapped, and the measure itself is compared, not a mean of differences.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator.measures.slices import Slice
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.progress import Steps

_ROUNDING = 1e-12  # differences this close are equal: a sum of fractions depends on its order
_MAX_WEIGHTS = 2_000_000  # numbers in memory at once, two per group: 32 MB
_STREAM = 1  # separates this random stream from that of intervals under the same seed


def permutations(n_groups: int, times: int, seed: int) -> Iterator[Numbers]:
    """Yield permutations in batches, groups x permutations of the batch: 1 where a group is swapped, else 0.

    They depend only on the seed and on the number of groups.
    """
    rng = np.random.default_rng([seed, n_groups, _STREAM])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, times, step):
        is_swapped = rng.random((min(step, times - begin), n_groups)) < 0.5
        yield np.ascontiguousarray(is_swapped.T, dtype=np.float64)


def p_values(
    a: Outcomes,
    b: Outcomes,
    slices: Sequence[Slice],
    differences: Sequence[float],
    *,
    times: int,
    seed: int,
    steps: Steps,
) -> list[float]:
    """Return the two-sided p of each difference (one per cell and measure, in that order), NaN where the difference is
    NaN.

    p = (1 + permutations with a larger difference + half of those with an equal one) / (1 + permutations with a
    difference). The observed order is one of them and counts fully, so that p is never 0 (Phipson & Smyth 2010). Other
    ties count half (Lancaster's mid-p, 1961): differences of whole numbers of right answers tie often, and counting
    them fully would make the test reject equal systems less often than its level. Where there is no difference p is 1.
    """
    scales = {measure.scale for slice_ in slices for measure in slice_.measures}
    views = {scale: View.whole(pool(scale(a), scale(b)) if scale else pool(a, b)) for scale in scales}
    observed = np.abs(np.asarray(differences, dtype=np.float64))
    as_large, counted = np.ones((2, len(observed)))
    for swapped in permutations(a.n_groups, times, seed):
        weights = np.concatenate([1 - swapped, swapped]), np.concatenate([swapped, 1 - swapped])
        wholes = {scale: [Sample(view, weight) for weight in weights] for scale, view in views.items()}
        index = 0
        for slice_ in slices:
            for measure in slice_.measures:
                sample_a, sample_b = (slice_.sample(whole) for whole in wholes[measure.scale])
                difference = np.abs(measure.evaluate(sample_a) - measure.evaluate(sample_b))
                larger = np.count_nonzero(difference > observed[index] + _ROUNDING)
                at_least = np.count_nonzero(difference >= observed[index] - _ROUNDING)
                as_large[index] += (larger + at_least) / 2
                counted[index] += np.count_nonzero(~np.isnan(difference))
                index += 1
            steps.add(2 * slice_.work * swapped.shape[1])
    p = np.where(observed > _ROUNDING, as_large / counted, 1.0)
    return [float(value) for value in np.where(np.isnan(observed), np.nan, p)]
