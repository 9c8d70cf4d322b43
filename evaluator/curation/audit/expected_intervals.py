"""How wide an interval will be, before anybody has submitted: from how many units there are and how they are grouped.

The variance of a measure follows from a model of a system that is half right (a share or an F1 of .5, an AUROC of
.75, a correlation of .5), and the reach from the rule for few groups (`evaluator.statistics.bootstrap`): Student's t,
by the effective number of groups. Twice: for a system whose mistakes are independent, and for one that is right or
wrong about a whole group. Real systems lie between; where each unit is its own group both are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from evaluator.outcomes.table import Numbers
from evaluator.statistics import student_t
from evaluator.statistics.confidence import LEVEL


@dataclass(frozen=True)
class Width:
    """Half the interval's width. independent, shared: see the module. at: the measure's value that it is for."""

    at: float
    independent: float | None
    shared: float | None


def share(units: Numbers) -> Width:
    """A mean of marks right or wrong at .5. units: how many each group has, none 0."""
    return _width(0.5, units, 0.25, 0.25)


def f1(units: Numbers) -> Width:
    """An F1 of .5 = 2 tp / (2 tp + fp + fn), precision and recall alike, by the delta method: tp is right or wrong at
    .5 a unit, fp a Poisson variable of mean .5 (or, shared, all of a group's or none)."""
    return _width(0.5, units, (2.25 * 0.25 + 0.25 * 0.5) / 4, (2.25 * 0.25 + 0.25 * 0.25) / 4)


def correlation(units: Numbers) -> Width:
    """A rank correlation of .5: Fisher's z with the variance of Bonett & Wright 2000."""
    n = float(units.sum())
    if n <= 4:
        return Width(0.5, None, None)
    variance = (1 - 0.5**2) ** 2 * (1 + 0.5**2 / 2) * n / (n - 3)
    return _width(0.5, units, variance, variance)


def auroc(positive: Numbers, negative: Numbers, area: float = 0.75) -> Width:
    """Hanley & McNeil 1982. positive, negative: units of either class in each group, not both 0."""
    n, m = float(positive.sum()), float(negative.sum())
    if min(n, m) < 1:
        return Width(area, None, None)
    ends = []
    for shared in (False, True):
        # Groups that share their mistakes count as fewer claims (Kish 1965).
        a, b = (float(x.sum()) ** 2 / float((x**2).sum()) if shared else float(x.sum()) for x in (positive, negative))
        first, second = area / (2 - area), 2 * area**2 / (1 + area)
        variance = area * (1 - area) + (a - 1) * (first - area**2) + (b - 1) * (second - area**2)
        ends.append(_reach(effective(positive + negative, shared)) * math.sqrt(variance / (a * b)))
    return Width(area, *(min(end, 0.5) for end in ends))


def effective(units: Numbers, shared: bool) -> int:
    """The effective number of groups, as `uncertainty.shape` takes it of influences: of what is expected of them."""
    units = units[units > 0]
    if shared:
        return max(math.floor(float((units**2).sum()) ** 2 / float((units**4).sum()) + 1e-9), 1)
    fourths = float((3 * units**2 - 2 * units).sum())  # of a sum of so many marks +1 or -1
    return max(math.floor(float(units.sum()) ** 2 / fourths + 1e-9), 1)


def _width(at: float, units: Numbers, one: float, whole: float) -> Width:
    """one: the variance of one unit, mistakes independent; whole: of one unit's part in a group's common mistake."""
    units = units[units > 0]
    n = float(units.sum())
    if len(units) < 2:
        return Width(at, None, None)
    independent = _reach(effective(units, False)) * math.sqrt(one / n)
    shared = _reach(effective(units, True)) * math.sqrt(whole * float((units**2).sum())) / n
    return Width(at, min(independent, 0.5), min(shared, 0.5))


def _reach(groups: int) -> float:
    """In standard deviations (Hesterberg 2015)."""
    groups = max(groups, 2)
    return math.sqrt(groups / (groups - 1)) * student_t.quantile((1 + LEVEL) / 2, groups - 1)


MODELS: dict[str, Callable[[Numbers], Width]] = {"share": share, "f1": f1, "correlation": correlation}
"""By `Measure.variance`; AUROC needs both classes."""
