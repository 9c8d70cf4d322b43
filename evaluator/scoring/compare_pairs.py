"""Comparison of many systems on one gold by one measure: each pair's difference, its interval and p-value.

The rank ranges of a board are computed from the p-values (`evaluator.statistics.holm`). The interval of a
pair is the same as in `evaluator.scoring.compare`. There are more permutations, so that p-values can be small enough to
remain significant after Holm adjustment for hundreds of pairs.
"""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.pooled import check_alike
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring.score import checked, number_or_none
from evaluator.statistics.bootstrap import BootstrapReplicates, group_weights
from evaluator.statistics.permuted_differences import is_function_of_sums, permuted_differences, swap_mask_blocks
from evaluator.statistics.rank_permutation import Masks, Pair

MAX_PERMUTATIONS = 200_000
"""The maximum number of permutations per pair.

The smallest possible p-value is then 5e-6, which is significant after Holm adjustment for up to 10,000 pairs."""

_BUDGET = 1_000_000_000  # permutations x cost of one, which is n_groups for measures of sums: some seconds
_RANKED = 20  # cost per unit, relative to the cost per group above, for Spearman's correlation
_TAKEN_AGAIN = 200  # the same for measures that are evaluated again for each permutation
STOP_AFTER_EXCEEDANCES = 200
"""The permutations of a pair end when this many have a difference at least as large as the observed one.

The standard error of the p-value is then about 7 % of the p-value (1 / sqrt(200))."""
_ROUNDING = 1e-12  # differences this close count as tied: rounding depends on the order of summation


class PairComparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Comparison of two systems by one measure. None: the number does not exist.

    a, b: the indices of the systems; difference: the value of a minus the value of b; low, high: the ends of its
    confidence interval; p: the two-sided p-value, not adjusted for multiple testing; n_permutations: the number of
    permutations from which p is computed.
    """

    a: int
    b: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n_permutations: int


def compare_pairs(
    tables: Sequence[Outcomes],
    pairs: Sequence[Pair],
    measure: Measure,
    *,
    resamples: int,
    seed: int,
    n_permutations: int = MAX_PERMUTATIONS,
) -> list[PairComparison]:
    """Compare each pair of systems by the measure on the whole gold, in the order of the pairs.

    tables: the outcomes of each system; pairs: indices of tables; resamples: the number of bootstrap resamples for the
    intervals, 0 for no intervals; n_permutations: the maximum number of permutations per pair, which
    `max_permutations` lowers for large golds. Raises UsageError if the tables belong to different golds, SandboxError
    for a value outside the measure's bounds.
    """
    for table in tables[1:]:
        check_alike(tables[0], table)
    values = [_value(table, measure) for table in tables]
    differences = np.array([values[a] - values[b] for a, b in pairs])
    ends = _intervals(tables, pairs, measure, differences, resamples=resamples, seed=seed)
    counts = [_SequentialPValue(difference) for difference in differences.tolist()]
    _permute(
        counts,
        tables,
        pairs,
        measure,
        swap_mask_blocks(_groups(tables), max_permutations(tables, measure, n_permutations), seed),
    )
    bounded = ~np.isnan(differences)
    return [
        PairComparison(
            a=a,
            b=b,
            difference=number_or_none(differences[index]),
            low=number_or_none(ends[index][0]) if bounded[index] else None,
            high=number_or_none(ends[index][1]) if bounded[index] else None,
            p=number_or_none(counts[index].p),
            n_permutations=counts[index].n_sampled,
        )
        for index, (a, b) in enumerate(pairs)
    ]


def max_permutations(tables: Sequence[Outcomes], measure: Measure, n_permutations: int = MAX_PERMUTATIONS) -> int:
    """Return the maximum number of permutations per pair: `n_permutations`, or fewer for large golds.

    It depends only on the gold and the measure, so that the p-value of a pair does not depend on the other pairs.
    """
    if not _groups(tables):
        return 0
    if isinstance(measure, Auroc) or is_function_of_sums(measure):
        cost = tables[0].n_groups
    else:
        cost = tables[0].n_units * (_RANKED if isinstance(measure, Spearman) else _TAKEN_AGAIN)
    return max(1, min(n_permutations, _BUDGET // max(cost, 1)))


def _value(table: Outcomes, measure: Measure) -> float:
    value = checked(measure, float(measure.evaluate(Sample(View.whole(table), np.ones((table.n_groups, 1))))[0]))
    return np.nan if value is None else value


def _intervals(
    tables: Sequence[Outcomes],
    pairs: Sequence[Pair],
    measure: Measure,
    differences: Numbers,
    *,
    resamples: int,
    seed: int,
) -> list[tuple[float, float]]:
    """Return the ends (low, high) of each pair's interval, from the same resamples of groups for all systems.

    differences: the observed difference of each pair. resamples, seed: those of the bootstrap; 0 resamples: both ends
    are NaN.
    """
    if not resamples or _groups(tables) < 2:
        return [(np.nan, np.nan)] * len(pairs)
    views = [View.whole(table) for table in tables]
    # One object per pair, since a pair's numbers must not depend on the other pairs: the last bit of a sum depends on
    # the shape of the matrix.
    resampled = [BootstrapReplicates(differences[[index]], _groups(tables), resamples) for index in range(len(pairs))]
    for weights in group_weights(_groups(tables), resamples, seed):
        values = [measure.evaluate(Sample(view, weights)) for view in views]
        for (a, b), pair_resampled in zip(pairs, resampled, strict=True):
            pair_resampled.add([values[a] - values[b]], weights)
    return [
        (float(low[0]), float(high[0])) for low, high in (pair_resampled.intervals() for pair_resampled in resampled)
    ]


class _SequentialPValue:
    """The p-value of one pair. Permutations are drawn until enough of them reach the observed difference.

    A permutation reaches it if its absolute difference is at least as large. When STOP_AFTER_EXCEEDANCES permutations
    have reached it, p is their fraction of the permutations so far (sequential Monte Carlo p-value, Besag & Clifford
    1991). If the permutations run out before, p is (1 + those that reach it) / (1 + all): the observed outcomes count
    as one of them, so that p is never 0 (Phipson & Smyth 2010). Both are valid p-values: under the null hypothesis P(p
    <= alpha) <= alpha for every alpha.
    """

    def __init__(self, seen: float) -> None:
        self._least = abs(seen) - _ROUNDING
        self.as_large = 0
        self.n_sampled = 0
        self.is_over = bool(np.isnan(seen))
        self.p = np.nan

    def add(self, differences: Numbers) -> None:
        """Add the absolute differences of more permutations; NaN (no difference) does not count."""
        n_hits = int(np.count_nonzero(differences >= self._least))
        missing = STOP_AFTER_EXCEEDANCES - self.as_large
        if n_hits >= missing:
            valid = differences[~np.isnan(differences)]
            self.n_sampled += int(np.flatnonzero(valid >= self._least)[missing - 1]) + 1
            self.as_large, self.is_over = STOP_AFTER_EXCEEDANCES, True
            self.p = STOP_AFTER_EXCEEDANCES / self.n_sampled
        else:
            self.n_sampled += len(differences) - int(np.count_nonzero(np.isnan(differences)))
            self.as_large += n_hits
            self.p = (1 + self.as_large) / (1 + self.n_sampled)


def _permute(
    counts: Sequence[_SequentialPValue],
    tables: Sequence[Outcomes],
    pairs: Sequence[Pair],
    measure: Measure,
    blocks: Iterable[Masks],
) -> None:
    kind = permuted_differences(measure, tables)
    unsettled = [index for index, count in enumerate(counts) if not count.is_over]
    for swapped in blocks if unsettled else ():
        by_pair = kind.differences(swapped, [pairs[index] for index in unsettled])
        for index, differences in zip(unsettled, by_pair, strict=True):
            counts[index].add(differences)
        unsettled = [index for index in unsettled if not counts[index].is_over]
        if not unsettled:
            return


def _groups(tables: Sequence[Outcomes]) -> int:
    return tables[0].n_groups if tables else 0
