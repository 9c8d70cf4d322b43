"""One measure of many systems on one gold: each pair's difference, how sure it is, and whether it is chance.

What a board's rank ranges rest on (`evaluator.statistics.multiple_testing`). The interval of a pair is the one that
`evaluator.scoring.compare` gives. Its p has the resolution that a correction for hundreds of pairs needs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.pooled import check_alike
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring.score import checked, number_or_none
from evaluator.statistics.bootstrap import Resampled, group_weights
from evaluator.statistics.pairwise_permutation import exchanged, exchanges, rests_on_sums
from evaluator.statistics.rank_permutation import Pair

DRAWS = 200_000
"""The most exchanges of one pair: the least p is 5e-6, which counts among up to 10,000 pairs."""

_BUDGET = 1_000_000_000  # groups x exchanges, where an exchange is a product of sums: some seconds
_RANKED = 20  # how much more a unit costs than a group, where it has to be ranked
_TAKEN_AGAIN = 200  # the same where the measure is taken again from the units
ENOUGH = 200
"""So many exchanges with a difference at least as large settle a p, to about a fourteenth of itself."""
_ROUNDING = 1e-12  # differences this close are equal: a sum of fractions depends on its order


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two of the systems, by their places. None: there is no such number.

    difference: a - b; low, high: its interval; p: two-sided; draws: the exchanges behind p.
    """

    a: int
    b: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    draws: int

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def compare_pairs(
    tables: Sequence[Outcomes],
    pairs: Sequence[Pair],
    measure: Measure,
    *,
    resamples: int,
    seed: int,
    draws: int = DRAWS,
) -> list[PairComparison]:
    """The measure on the whole, in the order of the pairs.

    resamples: of the interval; draws: the most exchanges of the test (large golds get fewer, `most_draws`). Raises
    UsageError where tables are not of one gold, SandboxError for a value outside the measure's bounds.
    """
    for table in tables[1:]:
        check_alike(tables[0], table)
    values = [_value(table, measure) for table in tables]
    differences = np.array([values[a] - values[b] for a, b in pairs])
    ends = _intervals(tables, pairs, measure, differences, resamples=resamples, seed=seed)
    counts = [_Count(difference) for difference in differences.tolist()]
    _exchange(counts, tables, pairs, measure, exchanges(_groups(tables), most_draws(tables, measure, draws), seed))
    bounded = ~np.isnan(differences)
    return [
        PairComparison(
            a=a,
            b=b,
            difference=number_or_none(differences[place]),
            low=number_or_none(ends[place][0]) if bounded[place] else None,
            high=number_or_none(ends[place][1]) if bounded[place] else None,
            p=number_or_none(counts[place].p),
            draws=counts[place].drawn,
        )
        for place, (a, b) in enumerate(pairs)
    ]


def most_draws(tables: Sequence[Outcomes], measure: Measure, draws: int = DRAWS) -> int:
    """The exchanges that a pair may get: what gold alone decides, so that a pair's p does not depend on its company."""
    if not _groups(tables):
        return 0
    if isinstance(measure, Auroc) or rests_on_sums(measure):
        cost = tables[0].n_groups
    else:
        cost = tables[0].n_units * (_RANKED if isinstance(measure, Spearman) else _TAKEN_AGAIN)
    return max(1, min(draws, _BUDGET // max(cost, 1)))


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
    """(low, high) of each pair, by the same draws of groups for all systems."""
    if not resamples or _groups(tables) < 2:
        return [(np.nan, np.nan)] * len(pairs)
    views = [View.whole(table) for table in tables]
    # One each: a sum's last bit depends on what is summed beside it, and a pair's numbers not on its company.
    drawn = [Resampled(differences[[place]], _groups(tables), resamples) for place in range(len(pairs))]
    for weights in group_weights(_groups(tables), resamples, seed):
        values = [measure.evaluate(Sample(view, weights)) for view in views]
        for (a, b), one in zip(pairs, drawn, strict=True):
            one.add([values[a] - values[b]], weights)
    return [(float(low[0]), float(high[0])) for low, high in (one.intervals() for one in drawn)]


class _Count:
    """Exchanges of one pair, until there are enough with a difference at least as large as the one seen.

    p is then their share (Besag & Clifford 1991). Where the exchanges end first it is (1 + those) / (1 + exchanges):
    the given order is one of them, and p is never 0 (Phipson & Smyth 2010). Either is valid at any level.
    """

    def __init__(self, seen: float) -> None:
        self._least = abs(seen) - _ROUNDING
        self.as_large = 0
        self.drawn = 0
        self.is_over = bool(np.isnan(seen))
        self.p = np.nan

    def add(self, differences: Numbers) -> None:
        """|a' - b'|, one an exchange. Exchanges without a difference do not count."""
        given = differences[~np.isnan(differences)]
        hits = np.flatnonzero(given >= self._least)
        missing = ENOUGH - self.as_large
        if len(hits) >= missing:
            self.drawn += int(hits[missing - 1]) + 1
            self.as_large, self.is_over = ENOUGH, True
            self.p = ENOUGH / self.drawn
        else:
            self.drawn += len(given)
            self.as_large += len(hits)
            self.p = (1 + self.as_large) / (1 + self.drawn)


def _exchange(
    counts: Sequence[_Count],
    tables: Sequence[Outcomes],
    pairs: Sequence[Pair],
    measure: Measure,
    blocks: Iterable[Numbers],
) -> None:
    kind = exchanged(measure, tables)
    unsettled = [place for place, count in enumerate(counts) if not count.is_over]
    for swapped in blocks if unsettled else ():
        found = kind.differences(swapped, [pairs[place] for place in unsettled])
        for place, differences in zip(unsettled, found, strict=True):
            counts[place].add(differences)
        unsettled = [place for place in unsettled if not counts[place].is_over]
        if not unsettled:
            return


def _groups(tables: Sequence[Outcomes]) -> int:
    return tables[0].n_groups if tables else 0
