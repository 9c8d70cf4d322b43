"""Many pairs of systems tested at once by exchanging whole groups, to p-values as small as Holm's correction needs.

`evaluator.statistics.permutation` tests every measure on every slice of one pair. A board asks one measure of many
pairs, and the least p of m pairs must come below .05 / m. All pairs see the same exchanges, and a pair's own numbers
depend on its two tables and the seed alone, so a pair that is tested with others, or again, or later, has the same p.

An exchange of groups moves each statistic's sum by what the two systems have in those groups:

    sum of a' = sum of a + (b's in the exchanged groups - a's there),    sum of b' = sum of b - the same

so a system's sums under all exchanges are one matrix product, whatever the number of its pairs.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Difference, Harmonic, Measure, Ratio
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.pooled import pool
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.rank_permutation import AurocExchanged, Exchanged, Pair, SpearmanExchanged

_STREAM = 2  # tells these draws from those of intervals and single comparisons under the same seed
_MAX_BLOCK = 1 << 20  # numbers of one block of exchanges: 8 MB
_MOST_TOGETHER = 1000  # exchanges, so that a pair that needs few does not pay for many


def exchanges(n_groups: int, times: int, seed: int) -> Iterator[Numbers]:
    """1 where a group is exchanged, else 0: groups x some of the times, until all were given.

    They depend on the seed and on the number of groups only; a longer series begins as a shorter one does.
    """
    random = np.random.default_rng([seed, n_groups, _STREAM])
    step = max(1, min(_MOST_TOGETHER, _MAX_BLOCK // max(n_groups, 1)))
    width = -(-n_groups // 8)
    for begin in range(0, times, step):
        n = min(step, times - begin)
        packed = np.frombuffer(random.bytes(n * width), dtype=np.uint8).reshape(n, width)
        yield np.ascontiguousarray(np.unpackbits(packed, axis=1, count=n_groups).T, dtype=np.float64)


def exchanged(measure: Measure, tables: Sequence[Outcomes]) -> Exchanged:
    """The fastest way that is exact for the measure."""
    if isinstance(measure, Auroc):
        return AurocExchanged(measure, tables)
    if isinstance(measure, Spearman):
        return SpearmanExchanged(measure, tables)
    return _Sums(measure, tables) if rests_on_sums(measure) else _Anything(measure, tables)


def rests_on_sums(measure: Measure) -> bool:
    """Whether the measure is a function of the statistics' sums."""
    if isinstance(measure, Harmonic | Difference):
        return rests_on_sums(measure.a) and rests_on_sums(measure.b)
    return isinstance(measure, Ratio)


def group_sums(table: Outcomes) -> Numbers:
    """statistics x groups; 0 for groups without rows."""
    view = View.whole(table)
    sums = np.zeros((len(table.statistics), table.n_groups))
    sums[:, view.groups] = view.group_sums
    return sums


class _Totals(Sample):
    """A sample whose sums are known."""

    def __init__(self, like: View, names: Sequence[str], sums: Numbers) -> None:
        """sums: statistics x resamples."""
        super().__init__(like, sums)
        self._known: dict[str, Numbers] = dict(zip(names, sums, strict=True))

    def total(self, statistic: str) -> Numbers:
        return self._known[statistic]


class _Sums(Exchanged):
    """Ratios of sums, and what is made of them."""

    def __init__(self, measure: Measure, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._views = [View.whole(table) for table in tables]
        used = sorted(_used(measure))
        names = [list(table.statistics) for table in tables]
        self._names = used
        # Each system's own product, in one shape: a row's rounding depends on the shape of the whole.
        self._parts = [
            group_sums(table)[[own.index(name) for name in used]] for own, table in zip(names, tables, strict=True)
        ]
        self._whole = [part.sum(axis=1, keepdims=True) for part in self._parts]

    def differences(self, swapped: Numbers, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        moved = {place: self._parts[place] @ swapped for place in sorted({place for pair in pairs for place in pair})}
        for a, b in pairs:
            change = moved[b] - moved[a]
            one, other = self._values(a, self._whole[a] + change), self._values(b, self._whole[b] - change)
            yield np.abs(one - other)

    def _values(self, place: int, sums: Numbers) -> Numbers:
        return self._measure.evaluate(_Totals(self._views[place], self._names, sums))


def _used(measure: Measure) -> set[str]:
    """The statistics that a measure of sums reads."""
    used = set(measure.units.terms)
    if isinstance(measure, Ratio):
        used |= {*measure.numerator.terms, *measure.denominator.terms}
    elif isinstance(measure, Harmonic | Difference):
        used |= _used(measure.a) | _used(measure.b)
    return used


class _Anything(Exchanged):
    """Every other measure, taken again of each exchange."""

    def __init__(self, measure: Measure, tables: Sequence[Outcomes]) -> None:
        self._measure = measure
        self._tables = [measure.scale(table) if measure.scale else table for table in tables]
        self._pooled: dict[Pair, View] = {}

    def differences(self, swapped: Numbers, pairs: Sequence[Pair]) -> Iterator[Numbers]:
        halves = np.concatenate([1 - swapped, swapped]), np.concatenate([swapped, 1 - swapped])
        for pair in pairs:
            if pair not in self._pooled:
                self._pooled[pair] = View.whole(pool(*(self._tables[place] for place in pair)))
            one, other = (self._measure.evaluate(Sample(self._pooled[pair], half)) for half in halves)
            yield np.abs(one - other)
