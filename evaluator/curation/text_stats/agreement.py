"""Inter-annotator agreement: percent agreement, Cohen's kappa, Krippendorff's alpha with missing values.

The formulas and the examples in the tests are from Krippendorff 2011 ("Computing Krippendorff's Alpha-Reliability").
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evaluator.errors import UsageError, shown
from evaluator.outcomes.table import Numbers

Value = TypeVar("Value", bound=Hashable)
Units = Sequence[Sequence[Hashable]]
"""Values of each unit, from any annotators; units with fewer than two values are ignored."""

LEVELS = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class Pairwise:
    """Agreement of two annotators.

    n: the number of units that both judged. percent: the share of these with equal values, from 0 to 1; NaN if n is 0.
    kappa: Cohen's kappa; NaN if n is 0 or chance agreement is 1.
    """

    n: int
    percent: float
    kappa: float


def percent_agreement(units: Units) -> float:
    """Return the share of equal pairs among all pairs of values of one unit, from 0 to 1; NaN without pairs.

    units: the values that annotators gave to each unit.
    """
    pairs = same = 0
    for values in units:
        pairs += math.comb(len(values), 2)
        same += sum(math.comb(count, 2) for count in Counter(values).values())
    return same / pairs if pairs else math.nan


def pairwise(a: Sequence[Hashable], b: Sequence[Hashable]) -> Pairwise:
    """Compare two annotators. a, b: their values of the same units, in the same order. Kappa: Cohen 1960."""
    if len(a) != len(b):
        raise UsageError(f"the annotators have {len(a)} and {len(b)} values, expected the same number of each")
    if not a:
        return Pairwise(0, math.nan, math.nan)
    n = len(a)
    agreed = sum(x == y for x, y in zip(a, b, strict=True)) / n
    first, second = Counter(a), Counter(b)
    chance = sum(first[value] * second[value] for value in first) / n**2
    return Pairwise(n, agreed, (agreed - chance) / (1 - chance) if chance < 1 else math.nan)


def each_pair(judged: Mapping[Value, Mapping[Hashable, Hashable]]) -> dict[tuple[Value, Value], Pairwise]:
    """Return (annotator, annotator) -> their agreement, for each pair of annotators with a common unit.

    judged: annotator -> unit -> value.
    """
    comparisons = {}
    for a, b in itertools.combinations(judged, 2):
        common = [unit for unit in judged[a] if unit in judged[b]]
        if common:
            comparisons[a, b] = pairwise([judged[a][unit] for unit in common], [judged[b][unit] for unit in common])
    return comparisons


def alpha(units: Units, level: str) -> float:
    """Return Krippendorff's alpha; NaN where nothing was judged twice or all values are equal.

    units: each unit's values, from any annotators. level: nominal (values are equal or not), ordinal (numbers compared
    by order) or interval (by distance). Raises UsageError for another level, and for values other than numbers at the
    levels ordinal and interval.
    """
    if level not in LEVELS:
        raise UsageError(f"the level is {shown(level)}, expected one of: {', '.join(LEVELS)}")
    paired = [values for values in units if len(values) > 1]
    names = _distinct(paired, level)
    index_of = {name: index for index, name in enumerate(names)}
    coincidences = np.zeros((len(names), len(names)))
    for values in paired:
        counts = Counter(index_of[value] for value in values)
        for (c, n), (k, m) in itertools.product(counts.items(), repeat=2):
            coincidences[c, k] += (n * m if c != k else n * (n - 1)) / (len(values) - 1)
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    distances = _DISTANCES[level](names, totals)
    expected = float((np.outer(totals, totals) * distances).sum())
    if expected == 0:
        return math.nan
    return 1 - float((n - 1) * (coincidences * distances).sum()) / expected


def _distinct(units: Iterable[Iterable[Hashable]], level: str) -> list[Hashable]:
    values = dict.fromkeys(value for unit in units for value in unit)
    if level == "nominal":
        return list(values)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"a judgement is {shown(value)}, expected a number for Krippendorff's {level} alpha")
    return sorted(values)  # type: ignore[type-var]  # numbers, as was just checked


def _nominal(names: Sequence[Hashable], totals: Numbers) -> Numbers:
    return 1.0 - np.eye(len(names))


def _ordinal(names: Sequence[Hashable], totals: Numbers) -> Numbers:
    """Return the matrix of squared distances between values, for ordinal alpha.

    The distance of two values is the number of judgements between them, plus half the number of judgements equal to
    either. names: the values, ascending. totals: how often each value was given.
    """
    middle = np.cumsum(totals) - totals / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2, dtype=np.float64)


def _interval(names: Sequence[Hashable], totals: Numbers) -> Numbers:
    numbers = np.array(names, dtype=np.float64)
    return np.asarray((numbers[:, None] - numbers[None, :]) ** 2, dtype=np.float64)


_DISTANCES: dict[str, Callable[[Sequence[Hashable], Numbers], Numbers]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}


def by_annotator(judgements: Iterable[tuple[Hashable, Value, Hashable]]) -> dict[Value, dict[Hashable, Hashable]]:
    """Return annotator -> unit -> value. judgements: (unit, annotator, value)."""
    judged: dict[Value, dict[Hashable, Hashable]] = defaultdict(dict)
    for unit, annotator, value in judgements:
        judged[annotator][unit] = value
    return dict(judged)
