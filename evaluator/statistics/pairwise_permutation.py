"""Permuted differences of many pairs of systems at once; `evaluator.scoring.compare_pairs` counts them into p-values.

`evaluator.statistics.permutation_test` tests every measure on every slice of one pair. A board tests one measure on many
pairs, and the least p of m pairs must be below .05 / m. All pairs use the same permutations (swaps of whole groups),
and a pair's results depend only on its two tables and the seed, so that a pair has the same p when it is tested with
others, again, or later.

Swapping groups moves each statistic's sum by the difference between the two systems in those groups:

    sum of a' = sum of a + (b's in the swapped groups - a's there),    sum of b' = sum of b - the same

so a system's sums under all permutations are one matrix product, whatever the number of its pairs.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Difference, Harmonic, Measure, Ratio
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.rank_permutation import Pair, PermutedAuroc, PermutedDifferences, PermutedSpearman

_STREAM = 2  # separates this random stream from those of intervals and single comparisons under the same seed
_MAX_BLOCK = 1 << 20  # numbers of one block of permutations: 8 MB
_MOST_TOGETHER = 1000  # permutations, so that a pair that needs few does not pay for many


def group_permutations(n_groups: int, times: int, seed: int) -> Iterator[Numbers]:
    """Yield permutations in blocks, groups x permutations: 1 where a group is swapped, else 0.

    They depend only on the seed and on the number of groups; a longer series starts with the shorter one.
    """
    rng = np.random.default_rng([seed, n_groups, _STREAM])
    step = max(1, min(_MOST_TOGETHER, _MAX_BLOCK // max(n_groups, 1)))
    width = -(-n_groups // 8)
    for begin in range(0, times, step):
        n = min(step, times - begin)
        packed = np.frombuffer(rng.bytes(n * width), dtype=np.uint8).reshape(n, width)
        yield np.ascontiguousarray(np.unpackbits(packed, axis=1, count=n_groups).T, dtype=np.float64)


def permuted_differences(measure: Measure, tables: Sequence[Outcomes]) -> PermutedDifferences:
    """Return the fastest implementation that is exact for the measure."""
    if isinstance(measure, Auroc):
        return PermutedAuroc(measure, tables)
    if isinstance(measure, Spearman):
        return PermutedSpearman(measure, tables)
    return _Sums(measure, tables) if rests_on_sums(measure) else _Anything(measure, tables)


def rests_on_sums(measure: Measure) -> bool:
    """Return True if the measure is a function of the statistics' sums."""
    if isinstance(measure, Harmonic | Difference):
        return rests_on_sums(measure.a) and rests_on_sums(measure.b)
    return isinstance(measure, Ratio)


def group_sums(table: Outcomes) -> Numbers:
    """Return statistics x groups; 0 for groups without rows."""
    view = View.whole(table)
    sums = np.zeros((len(table.statistics), table.n_groups))
    sums[:, view.groups] = view.group_sums
    return sums


class _Totals(Sample):
    """A sample whose sums are precomputed."""

    def __init__(self, like: View, names: Sequence[str], sums: Numbers) -> None:
        """sums: statistics x resamples."""
        super().__init__(like, sums)
        self._known: dict[str, Numbers] = dict(zip(names, sums, strict=True))

    def total(self, statistic: str) -> Numbers:
        return self._known[statistic]


class _Sums(PermutedDifferences):
    """Differences of ratios of sums and of measures composed of them."""

    def __init__(self, measure: Measure, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._views = [View.whole(table) for table in tables]
        used = sorted(_used(measure))
        names = [list(table.statistics) for table in tables]
        self._names = used
        # One product per system, all of one shape: a row's rounding depends on the shape of the whole matrix.
        self._parts = [
            group_sums(table)[[columns.index(name) for name in used]]
            for columns, table in zip(names, tables, strict=True)
        ]
        self._whole = [part.sum(axis=1, keepdims=True) for part in self._parts]

    def differences(self, swapped: Numbers, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        moved = {
            system: self._parts[system] @ swapped for system in sorted({system for pair in pairs for system in pair})
        }
        for a, b in pairs:
            change = moved[b] - moved[a]
            value_a, value_b = self._values(a, self._whole[a] + change), self._values(b, self._whole[b] - change)
            yield np.abs(value_a - value_b)

    def _values(self, system: int, sums: Numbers) -> Numbers:
        return self._measure.evaluate(_Totals(self._views[system], self._names, sums))


def _used(measure: Measure) -> set[str]:
    """Return the statistics that a measure of sums reads."""
    used = set(measure.units.terms)
    if isinstance(measure, Ratio):
        used |= {*measure.numerator.terms, *measure.denominator.terms}
    elif isinstance(measure, Harmonic | Difference):
        used |= _used(measure.a) | _used(measure.b)
    return used


class _Anything(PermutedDifferences):
    """Differences of any other measure, re-evaluated for each permutation."""

    def __init__(self, measure: Measure, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._tables = [measure.scale(table) if measure.scale else table for table in tables]
        self._pooled: dict[Pair, View] = {}

    def differences(self, swapped: Numbers, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        both_weights = np.concatenate([1 - swapped, swapped]), np.concatenate([swapped, 1 - swapped])
        for pair in pairs:
            if pair not in self._pooled:
                self._pooled[pair] = View.whole(pool(*(self._tables[system] for system in pair)))
            value_a, value_b = (self._measure.evaluate(Sample(self._pooled[pair], weights)) for weights in both_weights)
            yield np.abs(value_a - value_b)
