"""Is a difference more than chance? Groups are exchanged between two systems, at random, and the measure taken again.

Were the systems alike, a group's two sets of outcomes could as well stand the other way round, so every exchange gives
a difference as likely as the one that was seen (Fisher 1935; for F1 and the like Yeh 2000). What is exchanged are whole
groups of outcomes, and what is compared is the measure itself, not a mean of differences.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator.measures.slices import Cell
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.progress import Steps

_ROUNDING = 1e-12  # differences this close are equal: a sum of fractions depends on its order
_MAX_WEIGHTS = 2_000_000  # numbers held at once, two a group: 32 MB
_STREAM = 1  # tells these draws from those of intervals under the same seed


def swaps(n_groups: int, times: int, seed: int) -> Iterator[Numbers]:
    """1 where a group is exchanged, else 0: groups x some of the times, until all were given.

    They depend on the seed and on the number of groups only.
    """
    random = np.random.default_rng([seed, n_groups, _STREAM])
    step = max(1, _MAX_WEIGHTS // max(n_groups, 1))
    for begin in range(0, times, step):
        drawn = random.random((min(step, times - begin), n_groups)) < 0.5
        yield np.ascontiguousarray(drawn.T, dtype=np.float64)


def p_values(
    a: Outcomes,
    b: Outcomes,
    cells: Sequence[Cell],
    differences: Sequence[float],
    *,
    times: int,
    seed: int,
    steps: Steps,
) -> list[float]:
    """The two-sided p of each difference (one a cell and measure, in that order), NaN where the difference is.

    p = (1 + exchanges with a larger difference + half of those with the same) / (1 + exchanges with a difference). The
    given order is one of them and counts whole, so that p is never 0 (Phipson & Smyth 2010). The others that tie with
    it count half (Lancaster's mid-p, 1961): differences of whole numbers of right answers tie often, and counted whole
    they would make the test reject equal systems less often than it says. Where there is no difference p is 1.
    """
    scales = {measure.scale for cell in cells for measure in cell.measures}
    views = {scale: View.whole(pool(scale(a), scale(b)) if scale else pool(a, b)) for scale in scales}
    seen = np.abs(np.asarray(differences, dtype=np.float64))
    as_large, counted = np.ones((2, len(seen)))
    for swapped in swaps(a.n_groups, times, seed):
        weights = np.concatenate([1 - swapped, swapped]), np.concatenate([swapped, 1 - swapped])
        wholes = {scale: [Sample(view, half) for half in weights] for scale, view in views.items()}
        place = 0
        for cell in cells:
            for measure in cell.measures:
                one, other = (cell.sample(whole) for whole in wholes[measure.scale])
                difference = np.abs(measure.evaluate(one) - measure.evaluate(other))
                larger = np.count_nonzero(difference > seen[place] + _ROUNDING)
                at_least = np.count_nonzero(difference >= seen[place] - _ROUNDING)
                as_large[place] += (larger + at_least) / 2
                counted[place] += np.count_nonzero(~np.isnan(difference))
                place += 1
            steps.add(2 * cell.work * swapped.shape[1])
    p = np.where(seen > _ROUNDING, as_large / counted, 1.0)
    return [float(p) for p in np.where(np.isnan(seen), np.nan, p)]
