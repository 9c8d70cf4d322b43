"""Slices of outcomes and weighted sums over them, from which measures are computed.

A View is the rows of a slice; it sums each statistic by group once. A Sample is a view with weights. One column of the
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
Value = TypeVar("Value")
Number = TypeVar("Number", bound=np.generic)

_BLOCK = 1 << 18  # weights processed at a time: few enough to stay in a CPU cache
_LEAST = 4  # minimum number of resamples at a time, since reading a single column of the weights is slow


class Remembering:
    """A cache of values by key, so that several measures share one sorted column or one pass over the weights."""

    def __init__(self) -> None:
        self._cached: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the cached value of the key; the first time, call `make` to compute it."""
        if key not in self._cached:
            self._cached[key] = make()
        value: Value = self._cached[key]
        return value


class View(Remembering):
    """Some rows of a table of outcomes, such as those of a slice."""

    def __init__(self, outcomes: Outcomes, rows: Rows) -> None:
        """Select rows. rows: their indices, in an order in which the rows of a group are adjacent."""
        super().__init__()
        self.outcomes = outcomes
        self.rows = rows
        self._splits: dict[str, list[View]] = {}
        self._in_order = False  # True if `rows` is the whole table in its own order

    @classmethod
    def whole(cls, outcomes: Outcomes) -> "View":
        """Return the view of all rows of a table of outcomes, sorted by group."""
        if np.all(outcomes.groups[1:] >= outcomes.groups[:-1]):
            view = cls(outcomes, np.arange(outcomes.n_rows))
            view._in_order = True
            return view
        return cls(outcomes, np.argsort(outcomes.groups, kind="stable").astype(np.int64))

    def split(self, dimension: str) -> list["View"]:
        """Return one view per value of the dimension, in the order of its values; some may be empty.

        Rows without a value are in none of them.
        """
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
        groups = self._selected(self.outcomes.groups)
        if not len(groups):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))

    @cached_property
    def groups(self) -> Rows:
        """The indices of the groups that have rows in the view, ascending."""
        groups = self._selected(self.outcomes.groups)
        return (groups if self._one_row_each else groups[self._starts]).astype(np.int64)

    @property
    def _one_row_each(self) -> bool:
        return len(self._starts) == len(self.rows)

    @cached_property
    def group_sums(self) -> Numbers:
        """Each statistic's sum over each group's rows in the view: statistics x `groups`."""
        columns = self.outcomes.statistics.values()
        if not len(self.rows):
            return np.zeros((len(columns), 0))
        sums = np.empty((len(columns), len(self._starts)))
        with np.errstate(over="ignore"):  # sums of scores may overflow, but no measure uses them
            for column, out in zip(columns, sums, strict=True):
                if self._one_row_each:
                    out[:] = self._selected(column)
                else:
                    np.add.reduceat(self._selected(column), self._starts, out=out)
        return sums

    def column(self, statistic: str) -> Numbers:
        """Return the statistic of this name: one value per row of the view, in the order of `rows`."""
        return self._selected(self.outcomes.statistics[statistic])

    def _selected(self, column: npt.NDArray[Number]) -> npt.NDArray[Number]:
        return column if self._in_order else np.take(column, self.rows)

    @cached_property
    def row_mask(self) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.outcomes.n_rows, dtype=np.bool_)
        mask[self.rows] = True
        return mask


class Sample(Remembering):
    """A view with weights: an array groups x resamples with the number of times that each group was drawn."""

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
        """True if there is one resample, in which every group counts once, as in the outcomes themselves."""
        return self.n_resamples == 1 and bool(np.all(self.weights == 1))

    @cached_property
    def _sums(self) -> dict[str, Numbers]:
        with np.errstate(over="ignore", invalid="ignore"):  # scores may be as large as float64 goes
            sums = self.view.group_sums @ self.own_weights
        return dict(zip(self.view.outcomes.statistics, sums, strict=True))

    @property
    def own_weights(self) -> Numbers:
        """The weights of the groups that have rows in the view: `view.groups` x resamples."""
        has_all_groups = len(self.view.groups) == self.view.outcomes.n_groups
        return self.weights if has_all_groups else self.weights[self.view.groups]

    def total(self, statistic: str) -> Numbers:
        """Return the weighted sum of a statistic over the view's rows, one number per resample."""
        return self._sums[statistic]

    def row_weights(self, row_indices: Rows | None = None) -> Iterator[tuple[slice, Numbers]]:
        """Yield (slice of the resamples, weights of the rows: resamples x rows), in blocks that fit in a CPU cache.

        This is for measures that are not functions of sums. row_indices: indices into the view's rows, which determine
        the order of the weights (default: the order of the view).
        """
        rows = self.view.rows if row_indices is None else self.view.rows[row_indices]
        groups = self.view.outcomes.groups[rows]
        step = max(_LEAST, _BLOCK // max(len(rows), 1))
        for begin in range(0, self.n_resamples, step):
            block = slice(begin, min(begin + step, self.n_resamples))
            yield block, np.ascontiguousarray(np.take(self.weights[:, block], groups, axis=0).T)

    def parts(self, dimension: str) -> list["Sample"]:
        """Return one sample per value of the dimension, in the order of its values, with the same weights."""
        if dimension not in self._parts:
            self._parts[dimension] = [Sample(view, self.weights) for view in self.view.split(dimension)]
        return self._parts[dimension]
