"""Slices of outcomes, and weighted sums over them: what measures are computed from.

A View is a slice's rows, its statistics summed up by group once. A Sample is a view under weights: one column of
weights is one resample of the groups, so that a thousand resamples of all statistics are one matrix product.
"""

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers, Outcomes

Rows = npt.NDArray[np.int64]
Made = TypeVar("Made")
Number = TypeVar("Number", bound=np.generic)

_BLOCK = 1 << 18  # weights looked at together: few enough to stay in a processor's cache
_LEAST = 4  # resamples together, however many rows: one row of weights is read at a time


class Remembering:
    """Makes a thing once for each key: several measures rest on one sorted column, one pass over the weights."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made


class View(Remembering):
    """Some rows of an outcomes table."""

    def __init__(self, outcomes: Outcomes, rows: Rows) -> None:
        """rows: indices, ordered so that a group's rows stand together."""
        super().__init__()
        self.outcomes = outcomes
        self.rows = rows
        self._splits: dict[str, list[View]] = {}
        self._as_they_stand = False  # whether `rows` is all of the table, in its own order

    @classmethod
    def whole(cls, outcomes: Outcomes) -> "View":
        if np.all(outcomes.groups[1:] >= outcomes.groups[:-1]):
            view = cls(outcomes, np.arange(outcomes.n_rows))
            view._as_they_stand = True
            return view
        return cls(outcomes, np.argsort(outcomes.groups, kind="stable").astype(np.int64))

    def split(self, dimension: str) -> list["View"]:
        """One view a value of the dimension, in the order of its values; some may be empty."""
        if dimension not in self._splits:
            codes = self.outcomes.dimensions[dimension].codes[self.rows]
            order = np.argsort(codes, kind="stable")
            n_values = len(self.outcomes.dimensions[dimension].values)
            edges = np.searchsorted(codes[order], np.arange(n_values + 1))
            self._splits[dimension] = [
                View(self.outcomes, self.rows[order[start:end]]) for start, end in pairwise(edges)
            ]
        return self._splits[dimension]

    @cached_property
    def _starts(self) -> Rows:
        groups = self._here(self.outcomes.groups)
        if not len(groups):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))

    @cached_property
    def groups(self) -> Rows:
        """The groups that have rows here, ascending."""
        groups = self._here(self.outcomes.groups)
        return (groups if self._one_row_each else groups[self._starts]).astype(np.int64)

    @property
    def _one_row_each(self) -> bool:
        return len(self._starts) == len(self.rows)

    @cached_property
    def group_sums(self) -> Numbers:
        """statistics x groups: each statistic's sum over a group's rows here."""
        columns = self.outcomes.statistics.values()
        if not len(self.rows):
            return np.zeros((len(columns), 0))
        sums = np.empty((len(columns), len(self._starts)))
        with np.errstate(over="ignore"):  # of scores, which nobody sums
            for column, out in zip(columns, sums, strict=True):
                if self._one_row_each:
                    out[:] = self._here(column)
                else:
                    np.add.reduceat(self._here(column), self._starts, out=out)
        return sums

    def column(self, statistic: str) -> Numbers:
        """The statistic of each row here, in the order of `rows`."""
        return self._here(self.outcomes.statistics[statistic])

    def _here(self, column: npt.NDArray[Number]) -> npt.NDArray[Number]:
        return column if self._as_they_stand else np.take(column, self.rows)

    @cached_property
    def row_mask(self) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.outcomes.n_rows, dtype=np.bool_)
        mask[self.rows] = True
        return mask


class Sample(Remembering):
    """A view under weights of shape groups x resamples (whole numbers: how often each group was drawn)."""

    def __init__(self, view: View, weights: Numbers) -> None:
        super().__init__()
        self.view = view
        self.weights = weights
        self._parts: dict[str, list[Sample]] = {}

    @property
    def n_resamples(self) -> int:
        return int(self.weights.shape[1])

    @cached_property
    def is_plain(self) -> bool:
        """Whether every row counts once, in one resample: the outcomes as they are."""
        return self.n_resamples == 1 and bool(np.all(self.weights == 1))

    @cached_property
    def _sums(self) -> dict[str, Numbers]:
        with np.errstate(over="ignore", invalid="ignore"):  # scores may be as large as float64 goes
            sums = self.view.group_sums @ self.own_weights
        return dict(zip(self.view.outcomes.statistics, sums, strict=True))

    @property
    def own_weights(self) -> Numbers:
        """Of the groups that have rows in the view: those groups x resamples."""
        everywhere = len(self.view.groups) == self.view.outcomes.n_groups
        return self.weights if everywhere else self.weights[self.view.groups]

    def total(self, statistic: str) -> Numbers:
        """The weighted sum of a statistic, one a resample."""
        return self._sums[statistic]

    def row_weights(self, places: Rows | None = None) -> Iterator[tuple[slice, Numbers]]:
        """For measures that are no function of sums: which resamples, and their weights as resamples x rows, a block
        that fits a cache at a time. places: rows of the view in the order wanted (default: all as they stand)."""
        rows = self.view.rows if places is None else self.view.rows[places]
        groups = self.view.outcomes.groups[rows]
        step = max(_LEAST, _BLOCK // max(len(rows), 1))
        for begin in range(0, self.n_resamples, step):
            block = slice(begin, min(begin + step, self.n_resamples))
            yield block, np.ascontiguousarray(np.take(self.weights[:, block], groups, axis=0).T)

    def parts(self, dimension: str) -> list["Sample"]:
        """One sample a value of the dimension."""
        if dimension not in self._parts:
            self._parts[dimension] = [Sample(view, self.weights) for view in self.view.split(dimension)]
        return self._parts[dimension]
