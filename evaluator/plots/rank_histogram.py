"""A metric's scores against people's ratings, both by rank, as counts on a coarse grid.

Ranks and not ratings, so that no rating is told; columns of several groups each, so that no text stands alone in one.
docs/adr/0016 says why.
"""

from itertools import pairwise
from math import isqrt

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.measures.ties import Ties
from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import View

MOST_PARTS = 10
LEAST_PARTS = 3

Parts = npt.NDArray[np.int64]


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows whose score lies in parts `start` up to `end` of the order of scores; how many have their rating in each
    part of the order of ratings, the lowest first."""

    start: int
    end: int
    counts: list[int]


def parts_of(values: Numbers, n_parts: int) -> Parts:
    """Which of `n_parts` even parts of the order each value lies in, from 0 for the least; equal ones by their average
    rank (Kendall & Gibbons 1990)."""
    ties = Ties.of(values)
    ends = np.append(ties.starts[1:], len(values))
    # Twice the average rank, counted from 0, plus 1: a whole number.
    parts: Parts = ((ties.starts + ends)[ties.codes] * n_parts) // (2 * max(len(values), 1))
    return parts


def rank_grid(view: View, *, rating: str, score: str) -> list[Column] | None:
    """A slice's grid, a column for each part of the scores' order; neighbours are one column where there are fewer
    groups than the root of them all in one. None: too few groups, or nothing to tell apart."""
    n_groups = len(view.groups)
    n_parts = min(MOST_PARTS, isqrt(n_groups))
    if n_parts < LEAST_PARTS:
        return None
    rows, columns = parts_of(view.column(rating), n_parts), parts_of(view.column(score), n_parts)
    groups = view.outcomes.groups[view.rows]
    edges = [0]
    for end in range(1, n_parts + 1):
        if _n_groups(groups, columns, edges[-1], end) >= isqrt(n_groups):
            edges.append(end)
    # What is left at the upper end joins the column before it.
    edges[-1] = n_parts
    if len(edges) < 3:
        return None
    found = []
    for start, end in pairwise(edges):
        inside = (columns >= start) & (columns < end)
        found.append(Column(start, end, np.bincount(rows[inside], minlength=n_parts).tolist()))
    return found


def _n_groups(groups: npt.NDArray[np.int32], columns: Parts, start: int, end: int) -> int:
    return len(np.unique(groups[(columns >= start) & (columns < end)]))
