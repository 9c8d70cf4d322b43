"""Transformations that put the scores of different systems on a common scale.

A permutation test swaps groups between two systems. If one system's scores are near .9 and the other's near 900, the
order of the mixed scores shows only which system a score came from. Ranks within each system avoid this (for AUROC:
Venkatraman & Begg 1996), and so do standardised scores (for correlations of metrics: Deutsch et al. 2021).
"""

from dataclasses import dataclass, replace

import numpy as np

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers, Outcomes


@dataclass(frozen=True)
class RankTransform:
    """Replacement of a statistic by its average ranks minus 1/2, among the rows of the same system.

    It is for measures that depend only on the order of scores. statistic: the statistic's name.
    """

    statistic: str

    def __call__(self, outcomes: Outcomes) -> Outcomes:
        ties = Ties.of(outcomes.statistics[self.statistic])
        ends = np.append(ties.starts[1:], len(ties.order))
        return _with(outcomes, self.statistic, ((ties.starts + ends) / 2)[ties.codes])


@dataclass(frozen=True)
class Standardization:
    """Standardisation of a statistic to zero mean and unit standard deviation, over the rows of the same system.

    It is for measures that do not change when scores are shifted or scaled. statistic: the statistic's name.
    """

    statistic: str

    def __call__(self, outcomes: Outcomes) -> Outcomes:
        column = scaled(outcomes.statistics[self.statistic])
        if len(column) and column.min() < column.max():
            column = column - column.mean()
            column = column / np.max(np.abs(column))
            column = column / np.sqrt(np.mean(column * column))
        return _with(outcomes, self.statistic, column)


def scaled(column: Numbers) -> Numbers:
    """Return the column divided by a power of two, so that its values are from -1 to 1 and no sum or square overflows.

    Correlations of the column stay the same, bit for bit.
    """
    _, exponent = np.frexp(np.max(np.abs(column), initial=0.0))
    rescaled: Numbers = np.ldexp(column, -exponent)
    return rescaled


def _with(outcomes: Outcomes, statistic: str, column: Numbers) -> Outcomes:
    return replace(outcomes, statistics={**outcomes.statistics, statistic: column})
