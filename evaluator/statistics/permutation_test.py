"""Paired permutation test: groups are swapped at random between two systems and the measure is computed again.

Under the null hypothesis the two systems' outcomes of a group are exchangeable, so every swap of groups gives a
difference that is as likely as the observed one (Fisher 1935; for F1 and similar measures Yeh 2000). All outcomes of a
group are swapped together. The test statistic is the difference of the measure itself, not a mean over groups.

This module compares one pair by every measure. All pairs of a board are compared by `evaluator.scoring.compare_pairs`,
which counts ties fully, so that the p-values of one pair may differ: those here are often slightly smaller. The audit's
features are tested by `evaluator.curation.audit.leaks.max_t_test`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator.measures.slices import Slice
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.progress import Steps

_ROUNDING = 1e-12  # differences this close count as tied: rounding depends on the order of summation
_MAX_WEIGHTS = 2_000_000  # maximum groups x permutations of a batch; each of its two weight arrays takes 32 MB
_STREAM = 1  # separates this random stream from that of the bootstrap under the same seed


def swap_masks(n_groups: int, n_permutations: int, seed: int) -> Iterator[Numbers]:
    """Yield random swap masks in batches: arrays of shape (groups, permutations of the batch).

    An entry is 1 where the permutation swaps the group's outcomes between the two systems, else 0. n_permutations: the
    total number. The masks depend only on the seed and on the number of groups.
    """
    rng = np.random.default_rng([seed, n_groups, _STREAM])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, n_permutations, step):
        is_swapped = rng.random((min(step, n_permutations - begin), n_groups)) < 0.5
        yield np.ascontiguousarray(is_swapped.T, dtype=np.float64)


def p_values(
    a: Outcomes,
    b: Outcomes,
    slices: Sequence[Slice],
    differences: Sequence[float],
    *,
    n_permutations: int,
    seed: int,
    steps: Steps,
) -> list[float]:
    """Return the two-sided p-value of each observed difference between systems a and b; NaN for a difference of NaN.

    differences: the measure on a minus the measure on b, for each slice and each of its measures, in that order.
    n_permutations: the number of permutations. steps: counts the work, to report progress.

    p = (1 + permutations with a larger absolute difference + half of those with an equal one) / (1 + permutations for
    which the measure has a difference). The 1 stands for the observed outcomes, so that p is never 0 (Phipson & Smyth
    2010). Ties count half (mid-p, Lancaster 1961): differences of counts tie often, and counting ties fully would make
    the test conservative, that is reject a true null hypothesis less often than its level. A mid-p keeps the level only
    on average: it can be as small as half the exact p, so with few groups a true null hypothesis may be rejected more
    often than the level, though at most twice as often (at .05 with eight groups of equal absolute difference: .070).
    An observed difference of 0 has p = 1.
    """
    transforms = {measure.transform for slice_ in slices for measure in slice_.measures}
    views = {
        transform: View.whole(pool(transform(a), transform(b)) if transform else pool(a, b)) for transform in transforms
    }
    observed = np.abs(np.asarray(differences, dtype=np.float64))
    as_large, counted = np.ones((2, len(observed)))
    for swapped in swap_masks(a.n_groups, n_permutations, seed):
        weights = np.concatenate([1 - swapped, swapped]), np.concatenate([swapped, 1 - swapped])
        wholes = {transform: [Sample(view, weight) for weight in weights] for transform, view in views.items()}
        index = 0
        for slice_ in slices:
            for measure in slice_.measures:
                sample_a, sample_b = (slice_.sample(whole) for whole in wholes[measure.transform])
                difference = np.abs(measure.evaluate(sample_a) - measure.evaluate(sample_b))
                larger = np.count_nonzero(difference > observed[index] + _ROUNDING)
                at_least = np.count_nonzero(difference >= observed[index] - _ROUNDING)
                as_large[index] += (larger + at_least) / 2
                counted[index] += np.count_nonzero(~np.isnan(difference))
                index += 1
            steps.add(2 * slice_.work * swapped.shape[1])
    p = np.where(observed > _ROUNDING, as_large / counted, 1.0)
    return [float(value) for value in np.where(np.isnan(observed), np.nan, p)]
