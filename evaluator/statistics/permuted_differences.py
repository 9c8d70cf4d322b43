"""Differences of many pairs of systems under permutations, from which `evaluator.scoring.compare_pairs` gets p-values.

`evaluator.statistics.permutation_test` tests every measure on every slice of one pair. A board tests one measure on
many pairs; with Holm adjustment, the smallest p-value of m pairs has to be at most .05 / m to be significant. All
pairs use the same permutations (swaps of whole groups), and the results of a pair depend only on its two tables and the
seed, so that a pair has the same p-value whichever other pairs are tested with it. That p-value counts ties fully, and
the one of `permutation_test`, a mid-p, counts them half: it is often slightly smaller.

Let a' and b' be systems a and b after some groups are swapped. Then each statistic has the sums

    sum of a' = sum of a + d,    sum of b' = sum of b - d,    d = (sum of b - sum of a) over the swapped groups

so that one matrix product per system gives its sums over the swapped groups of all permutations, for all its pairs. If
all statistics are counts, one matrix product for all systems is enough, and no sum is rounded. If the two systems
also differ in one statistic only, as they do by accuracy, the measure's difference is a function of one whole number,
and is read from a table instead of being computed for each permutation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Difference, HarmonicMean, Measure, Ratio
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.rank_permutation import Masks, Pair, PermutedAuroc, PermutedDifferences, PermutedSpearman

_STREAM = 2  # separates this random stream from those of intervals and single comparisons under the same seed
_MAX_STEP = 1 << 20  # maximum groups x permutations that are drawn at once: 8 MB
_MOST_AT_ONCE = 1000  # maximum permutations of the first block, so that a pair that needs few does not pay for many
_MOST_STEPS = 4  # maximum number of steps of a later block
_EXACT = 1 << 24  # whole numbers up to it, and sums of them, are exact in single precision
_MAX_TABLE = 1 << 14  # maximum entries of a pair's table: more would be computed than read, and leave the CPU cache
_MAX_EVALUATED = 1 << 15  # maximum pairs x permutations that are evaluated at once: few enough to stay in a CPU cache


def swap_mask_blocks(n_groups: int, n_permutations: int, seed: int) -> Iterator[Masks]:
    """Yield random swap masks in blocks: arrays of shape (groups, permutations of the block).

    An entry is 1 where the permutation swaps the group's outcomes between the two systems, else 0. n_permutations: the
    total number. The masks depend only on the seed and on the number of groups; a longer series starts with the shorter
    one. Later blocks are larger, since pairs that need them need many permutations.
    """
    rng = np.random.default_rng([seed, n_groups, _STREAM])
    step = max(1, min(_MOST_AT_ONCE, _MAX_STEP // max(n_groups, 1)))
    width = -(-n_groups // 8)
    begin, n_steps = 0, 1
    while begin < n_permutations:
        steps = []
        for _ in range(n_steps):
            n = min(step, n_permutations - begin)
            steps.append(np.frombuffer(rng.bytes(n * width), dtype=np.uint8).reshape(n, width))
            begin += n
        yield np.ascontiguousarray(np.unpackbits(np.concatenate(steps), axis=1, count=n_groups).T, dtype=np.float32)
        n_steps = min(2 * n_steps, _MOST_STEPS)


def permuted_differences(measure: Measure, tables: Sequence[Outcomes]) -> PermutedDifferences:
    """Return the `PermutedDifferences` that is fastest for the measure; all are exact. tables: the outcomes of each
    system.
    """
    if isinstance(measure, Auroc):
        return PermutedAuroc(measure, tables)
    if isinstance(measure, Spearman):
        return PermutedSpearman(measure, tables)
    return _Sums(measure, tables) if is_function_of_sums(measure) else _Anything(measure, tables)


def is_function_of_sums(measure: Measure) -> bool:
    """Return True if the measure is a function of sums of statistics, such as a ratio of two sums."""
    if isinstance(measure, HarmonicMean | Difference):
        return is_function_of_sums(measure.a) and is_function_of_sums(measure.b)
    return isinstance(measure, Ratio)


def group_sums(table: Outcomes) -> Numbers:
    """Return the sum of each statistic over each group's rows: statistics x groups; 0 for groups without rows.

    table: the outcomes of one system.
    """
    view = View.whole(table)
    sums = np.zeros((len(table.statistics), table.n_groups))
    sums[:, view.groups] = view.group_sums
    return sums


class _Totals(Sample):
    """A sample whose sums of statistics are known, so that they are not computed from rows."""

    def __init__(self, like: View, names: Sequence[str], sums: Numbers) -> None:
        """Take the sums of the statistics `names`. sums: statistics x any shape. like: a view, which the base class
        needs.
        """
        super().__init__(like, sums)
        self._known: dict[str, Numbers] = dict(zip(names, sums, strict=True))

    def total(self, statistic: str) -> Numbers:
        return self._known[statistic]


@dataclass(frozen=True)
class _Table:
    """The absolute differences of the measure between systems a and b, for each change d of the one statistic that
    differs.

    rows: the indices in `_Sums._counts` of that statistic's counts, of a and of b; least: the smallest d; differences:
    for d = least, least + 1... up to the largest.
    """

    rows: tuple[int, int]
    least: np.float32
    differences: Numbers


class _Sums(PermutedDifferences):
    """Differences between pairs of systems under permutations, for a measure that is a function of sums."""

    def __init__(self, measure: Measure, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._views = [View.whole(table) for table in tables]
        used = sorted(_used(measure))
        self._names = used
        self._view = View.whole(tables[0])
        self._parts = np.array([_of_statistics(table, used) for table in tables])
        self._whole = self._parts.sum(axis=2)
        self._counts: npt.NDArray[np.float32] | None = None
        self._tables: dict[Pair, _Table | None] = {}
        if np.all(self._parts == np.floor(self._parts)) and np.abs(self._parts).sum(axis=2).max(initial=0) < _EXACT:
            # Systems often have statistics in common, such as the number of units.
            counts, self._row_of = np.unique(self._parts.reshape(-1, tables[0].n_groups), axis=0, return_inverse=True)
            self._counts = counts.astype(np.float32)
            self._row_of = self._row_of.reshape(self._whole.shape)

    def differences(self, swapped: Masks, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        tables = [table for pair in pairs if (table := self._table(pair)) is not None]
        if self._counts is not None and len(tables) == len(pairs):
            rows, index = np.unique([table.rows for table in tables], return_inverse=True)
            sums = self._counts[rows] @ swapped.astype(np.float32, copy=False)
            for table, (a, b) in zip(tables, index.reshape(-1, 2), strict=True):
                yield table.differences.take((sums[b] - sums[a] - table.least).astype(np.intp))
        else:
            yield from self._computed(swapped, pairs)

    def _computed(self, swapped: Masks, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        systems, index = np.unique(np.array(pairs).reshape(-1, 2), return_inverse=True)
        moved = self._moved(systems, swapped)
        first, second = index.reshape(-1, 2).T
        step = max(1, _MAX_EVALUATED // swapped.shape[1])
        for begin in range(0, len(pairs), step):
            a, b = first[begin : begin + step], second[begin : begin + step]
            change = moved[b] - moved[a]
            value_a = self._values(self._whole[systems[a], :, None] + change)
            value_b = self._values(self._whole[systems[b], :, None] - change)
            yield from np.abs(value_a - value_b)

    def _table(self, pair: Pair) -> _Table | None:
        if pair not in self._tables:
            self._tables[pair] = self._tabulate(*pair)
        return self._tables[pair]

    def _tabulate(self, a: int, b: int) -> _Table | None:
        """Return the table of a pair of systems, given by their indices.

        None: a statistic that the measure uses is not a count, several of these statistics differ between the two
        systems, or the table would be too large.
        """
        if self._counts is None:
            return None
        differing = np.flatnonzero(self._row_of[a] != self._row_of[b])
        if len(differing) > 1:
            return None
        statistic = differing[0] if len(differing) else 0
        by_group = self._parts[b, statistic] - self._parts[a, statistic]
        least, most = np.minimum(by_group, 0).sum(), np.maximum(by_group, 0).sum()
        if most - least >= _MAX_TABLE:
            return None
        change = np.zeros((1, len(self._names), int(most - least) + 1))
        change[0, statistic] = np.arange(least, most + 1)
        (value_a,) = self._values(self._whole[[a], :, None] + change)
        (value_b,) = self._values(self._whole[[b], :, None] - change)
        rows = int(self._row_of[a, statistic]), int(self._row_of[b, statistic])
        return _Table(rows, np.float32(least), np.abs(value_a - value_b))

    def _moved(self, systems: npt.NDArray[np.int64], swapped: Masks) -> Numbers:
        """Return each statistic's sum over the groups that are swapped: systems x statistics x permutations.

        systems: their indices. swapped: groups x permutations, 1 where the group is swapped, else 0.
        """
        if self._counts is None:
            # One product per system, all of one shape: the rounding of a sum depends on the shape of its matrix.
            numbers = swapped.astype(np.float64)
            return np.array([self._parts[system] @ numbers for system in systems])
        rows, of_system = np.unique(self._row_of[systems], return_inverse=True)
        sums = self._counts[rows] @ swapped.astype(np.float32, copy=False)
        return sums.astype(np.float64)[of_system.reshape(len(systems), -1)]

    def _values(self, sums: Numbers) -> Numbers:
        """Return the measure's values: pairs x permutations. sums: pairs x statistics x permutations."""
        return self._measure.evaluate(_Totals(self._view, self._names, np.moveaxis(sums, 1, 0)))


def _of_statistics(table: Outcomes, names: Sequence[str]) -> Numbers:
    """Return the sums of the statistics `names` over each group: statistics x groups. table: the outcomes of one
    system.
    """
    columns = list(table.statistics)
    return group_sums(table)[[columns.index(name) for name in names]]


def _used(measure: Measure) -> set[str]:
    """Return the names of the statistics that the measure, a function of sums, depends on."""
    used = set(measure.units.terms)
    if isinstance(measure, Ratio):
        used |= {*measure.numerator.terms, *measure.denominator.terms}
    elif isinstance(measure, HarmonicMean | Difference):
        used |= _used(measure.a) | _used(measure.b)
    return used


class _Anything(PermutedDifferences):
    """Differences between pairs of systems under permutations, for any measure. Each permutation is evaluated: slow."""

    def __init__(self, measure: Measure, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._tables = [measure.transform(table) if measure.transform else table for table in tables]
        self._pooled: dict[Pair, View] = {}

    def differences(self, swapped: Masks, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        swapped = swapped.astype(np.float64)
        both_weights = np.concatenate([1 - swapped, swapped]), np.concatenate([swapped, 1 - swapped])
        for pair in pairs:
            if pair not in self._pooled:
                self._pooled[pair] = View.whole(pool(*(self._tables[system] for system in pair)))
            value_a, value_b = (self._measure.evaluate(Sample(self._pooled[pair], weights)) for weights in both_weights)
            yield np.abs(value_a - value_b)
