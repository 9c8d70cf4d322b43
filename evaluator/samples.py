"""Slices of outcomes, and weighted sums over them: what measures are computed from.

A View is a slice's rows, its statistics summed up by group once. A Sample is a view under weights: one column of
weights is one resample of the groups, so that a thousand resamples of all statistics are one matrix product.
"""

from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evaluator.outcomes import Numbers, Outcomes

Rows = npt.NDArray[np.int64]


class View:
    """Some rows of an outcomes table."""

    def __init__(self, outcomes: Outcomes, rows: Rows) -> None:
        """rows: indices, ordered so that a group's rows stand together."""
        self.outcomes = outcomes
        self.rows = rows
        self._splits: dict[str, list[View]] = {}

    @classmethod
    def whole(cls, outcomes: Outcomes) -> "View":
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
        groups = self.outcomes.groups[self.rows]
        if not len(groups):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))

    @cached_property
    def groups(self) -> Rows:
        """The groups that have rows here, ascending."""
        return self.outcomes.groups[self.rows[self._starts]].astype(np.int64)

    @cached_property
    def group_sums(self) -> Numbers:
        """statistics x groups: each statistic's sum over a group's rows here."""
        columns = self.outcomes.statistics.values()
        if not len(self.rows):
            return np.zeros((len(columns), 0))
        return np.stack([np.add.reduceat(column[self.rows], self._starts) for column in columns])

    @cached_property
    def row_mask(self) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.outcomes.n_rows, dtype=np.bool_)
        mask[self.rows] = True
        return mask


class Sample:
    """A view under weights of shape groups x resamples (whole numbers: how often each group was drawn)."""

    def __init__(self, view: View, weights: Numbers) -> None:
        self.view = view
        self.weights = weights
        self._parts: dict[str, list[Sample]] = {}

    @property
    def n_resamples(self) -> int:
        return int(self.weights.shape[1])

    @cached_property
    def _sums(self) -> dict[str, Numbers]:
        view = self.view
        everywhere = len(view.groups) == view.outcomes.n_groups
        weights = self.weights if everywhere else self.weights[view.groups]
        return dict(zip(view.outcomes.statistics, view.group_sums @ weights, strict=True))

    def total(self, statistic: str) -> Numbers:
        """The weighted sum of a statistic, one a resample."""
        return self._sums[statistic]

    def row_weights(self) -> Numbers:
        """rows x resamples, in the order of `view.rows`: for measures that are no function of sums."""
        return self.weights[self.view.outcomes.groups[self.view.rows]]

    def parts(self, dimension: str) -> list["Sample"]:
        """One sample a value of the dimension."""
        if dimension not in self._parts:
            self._parts[dimension] = [Sample(view, self.weights) for view in self.view.split(dimension)]
        return self._parts[dimension]
