"""Pearson's and Spearman's correlation of two columns; None where either column is constant."""

from __future__ import annotations

import numpy as np

from evaluator.measures.correlation import centred, correlate
from evaluator.measures.ties import Ties
from evaluator.measures.weighted_ranks import centred_ranks
from evaluator.outcomes.table import Numbers


def pearson(x: Numbers, y: Numbers) -> float | None:
    weights = np.ones((1, len(x)))
    return _value(correlate(centred(x, weights), centred(y, weights), weights))


def spearman(x: Numbers, y: Numbers) -> float | None:
    weights = np.ones((1, len(x)))
    ranks, other_ranks = (centred_ranks(Ties.of(values), weights) for values in (x, y))
    return _value(correlate(ranks, other_ranks, weights))


def _value(correlation: Numbers) -> float | None:
    return None if np.isnan(correlation[0]) else float(correlation[0])
