"""Comparisons of a board's systems as one family: p-values corrected for their number, and the ranks they allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

import numpy as np

from evaluator.statistics.multiple_testing import ALPHA, holm, rank_ranges

Pair = frozenset[UUID]


@dataclass(frozen=True)
class Corrected:
    """p_holm: of each pair, None where there is no test; n_unresolved: pairs with the least p that their exchanges
    could give, and yet not significant."""

    p_holm: Mapping[Pair, float | None]
    ranges: Mapping[UUID, tuple[int, int]]
    n_pairs: int
    n_unresolved: int


def corrected(
    *,
    values: Mapping[UUID, float],
    comparisons: Iterable[tuple[UUID, UUID, float | None, int]],
    higher_is_better: bool,
) -> Corrected:
    """The family of all pairs of these runs. comparisons: (run, run, p, draws), those of other runs left out.

    Raises KeyError where a pair was not compared.
    """
    there = {frozenset((a, b)): (p, draws) for a, b, p, draws in comparisons if a in values and b in values}
    runs = list(values)
    family = [frozenset(pair) for pair in combinations(runs, 2)]
    tested = [there[pair][0] for pair in family]
    raised = holm([np.nan if p is None else p for p in tested])
    p_holm = {pair: None if np.isnan(p) else p for pair, p in zip(family, raised, strict=True)}
    matrix = np.full((len(runs), len(runs)), np.nan)
    for (i, a), (j, b) in combinations(enumerate(runs), 2):
        p = p_holm[frozenset((a, b))]
        matrix[i, j] = matrix[j, i] = np.nan if p is None else p
    ranges = rank_ranges(list(values.values()), matrix, higher_is_better=higher_is_better)
    unresolved = [
        pair
        for pair in family
        if (raised_p := p_holm[pair]) is not None and raised_p > ALPHA and _is_least(*there[pair])
    ]
    return Corrected(p_holm, dict(zip(runs, ranges, strict=True)), len(family), len(unresolved))


def _is_least(p: float | None, draws: int) -> bool:
    """Whether no exchange had a difference as large."""
    return p is not None and p <= 1 / (draws + 1)
