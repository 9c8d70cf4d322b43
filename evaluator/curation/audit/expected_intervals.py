"""Expected width of a confidence interval before any submission, from the number of units and their groups.

The variance of a measure follows from a model of a system that is half right (a proportion or an F1 of .5, an AUROC of
.75, a correlation of .5). The half-width follows from the variance by the rule for few groups
(`evaluator.statistics.bootstrap`): Student's t, with degrees of freedom from the effective number of groups. There are
two widths: for a system whose mistakes are independent, and for one that is right or wrong about a whole group. Real
systems are in between. If each unit is its own group, both are equal, except for F1, whose two models of false
positives differ.
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
    """Expected half-width of a confidence interval, in units of the measure; .5 if it would be larger.

    at: the value of the measure that is assumed. independent: the half-width if mistakes are independent. shared: the
    half-width if a system is right or wrong about whole groups. Both are None if there are too few units.
    """

    at: float
    independent: float | None
    shared: float | None


def proportion(units: Numbers) -> Width:
    """Return the expected half-widths (see `Width`) of the confidence interval of a proportion of .5.

    units: number of units in each group; zeros are ignored.
    """
    return _half_widths(0.5, units, 0.25, 0.25)


def f1(units: Numbers) -> Width:
    """Return the expected half-widths of the interval of an F1 of .5, by the delta method.

    F1 is 2 tp / (2 tp + fp + fn), with equal precision and recall. A unit is a true positive (tp) with probability .5.
    Its number of false positives (fp) is Poisson with mean .5. If mistakes are shared, the units of a group have all
    one false positive or all none, with probability .5 each.
    units: number of units in each group; zeros are ignored.
    """
    return _half_widths(0.5, units, (2.25 * 0.25 + 0.25 * 0.5) / 4, (2.25 * 0.25 + 0.25 * 0.25) / 4)


def correlation(units: Numbers) -> Width:
    """Return the expected half-widths of the interval of a Spearman correlation of .5.

    They are those of Fisher's z with the variance of Bonett & Wright 2000.
    units: number of units in each group; zeros are ignored.
    """
    n = float(units.sum())
    if n <= 4:
        return Width(0.5, None, None)
    variance = (1 - 0.5**2) ** 2 * (1 + 0.5**2 / 2) * n / (n - 3)
    return _half_widths(0.5, units, variance, variance)


def auroc(positive: Numbers, negative: Numbers, area: float = 0.75) -> Width:
    """Return the expected half-widths of the interval of an AUROC of `area` (Hanley & McNeil 1982).

    positive, negative: number of units of each class in each group, over the same groups.
    """
    n, m = float(positive.sum()), float(negative.sum())
    if min(n, m) < 1:
        return Width(area, None, None)
    half_widths = []
    for shared in (False, True):
        # Groups with common mistakes have a smaller effective sample size (Kish 1965).
        a, b = (float(x.sum()) ** 2 / float((x**2).sum()) if shared else float(x.sum()) for x in (positive, negative))
        first, second = area / (2 - area), 2 * area**2 / (1 + area)
        variance = area * (1 - area) + (a - 1) * (first - area**2) + (b - 1) * (second - area**2)
        half_widths.append(_critical_value(effective(positive + negative, shared)) * math.sqrt(variance / (a * b)))
    return Width(area, *(min(half_width, 0.5) for half_width in half_widths))


def effective(units: Numbers, shared: bool) -> int:
    """Return the expected effective number of groups, rounded down, at least 1.

    It is (sum of squares)^2 / sum of fourth powers of the groups' influences on the measure. The squares and fourth
    powers are expected ones; `evaluator.statistics.bootstrap` uses the observed influences. units: number of units in
    each group; zeros are ignored. shared: True if a system is right or wrong about whole groups, False if mistakes are
    independent.
    """
    units = units[units > 0]
    if shared:
        return max(math.floor(float((units**2).sum()) ** 2 / float((units**4).sum()) + 1e-9), 1)
    fourths = float((3 * units**2 - 2 * units).sum())  # fourth moment of a sum of n values of +1 or -1
    return max(math.floor(float(units.sum()) ** 2 / fourths + 1e-9), 1)


def _half_widths(at: float, units: Numbers, unit_variance: float, shared_variance: float) -> Width:
    """Return the expected half-widths at the value `at` of the measure.

    units: number of units in each group; zeros are ignored. unit_variance: the variance of one unit's contribution
    (the variance of the estimate times the number of units) if mistakes are independent; shared_variance: the same if
    all units of a group share their mistakes.
    """
    units = units[units > 0]
    n = float(units.sum())
    if len(units) < 2:
        return Width(at, None, None)
    independent = _critical_value(effective(units, False)) * math.sqrt(unit_variance / n)
    shared = _critical_value(effective(units, True)) * math.sqrt(shared_variance * float((units**2).sum())) / n
    return Width(at, min(independent, 0.5), min(shared, 0.5))


def _critical_value(groups: int) -> float:
    """Return an interval's half-width in standard errors, at the confidence level LEVEL (Hesterberg 2015).

    It is the quantile of Student's t times sqrt(groups / (groups - 1)). groups: the effective number of groups.
    """
    groups = max(groups, 2)
    return math.sqrt(groups / (groups - 1)) * student_t.quantile((1 + LEVEL) / 2, groups - 1)


MODELS: dict[str, Callable[[Numbers], Width]] = {"proportion": proportion, "f1": f1, "correlation": correlation}
"""Width functions by `Measure.variance`. AUROC is separate, since it needs the units of both classes."""
