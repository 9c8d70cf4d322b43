"""Medians of a ragged column (any number of values per row) for many bootstrap resamples at once."""

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Sample

Indices = npt.NDArray[np.int64]
_RUNS = 64


def weighted_medians(sample: Sample, column: str) -> Numbers:
    """Return the median of a ragged column in each resample, where a value counts as often as its group was drawn.

    For an even number of values it is the mean of the two middle values. NaN where a resample has no value.
    """
    lengths = sample.view.outcomes.ragged[column]
    in_view = sample.view.row_mask[lengths.rows]
    values = lengths.values[in_view]
    if not len(values):
        return np.full(sample.n_resamples, np.nan)
    order = np.argsort(values, kind="stable")
    groups = sample.view.outcomes.groups[lengths.rows[in_view][order]].astype(np.int64)
    total = np.bincount(groups, minlength=sample.view.outcomes.n_groups) @ sample.weights
    nonempty = np.flatnonzero(total > 0)
    # The one or two middle positions, counted from 0, of each resample.
    positions = np.concatenate([(total[nonempty] - 1) // 2, total[nonempty] // 2])
    columns = np.concatenate([nonempty, nonempty])
    medians = np.full(sample.n_resamples, np.nan)
    medians[nonempty] = _at(values[order], groups, sample.weights, columns, positions).reshape(2, -1).mean(axis=0)
    return medians


def _at(values: Numbers, groups: Indices, weights: Numbers, columns: Indices, positions: Numbers) -> Numbers:
    """Return the value at each position, counted from 0, when value i is repeated weights[groups[i], column] times.

    values: in ascending order; groups: the group of each value; weights: groups x resamples; columns: the column of
    `weights` for each position. The values are cut into runs; only runs that hold a position are searched, recursively.
    """
    if len(values) <= _RUNS:
        reached = np.cumsum(weights[groups][:, columns], axis=0)
        medians: Numbers = values[(reached <= positions).sum(axis=0)]
        return medians
    edges = np.linspace(0, len(values), _RUNS + 1).astype(np.int64)
    present, group = np.unique(groups, return_inverse=True)
    run_of = np.repeat(np.arange(_RUNS), np.diff(edges))
    held = np.bincount(group * _RUNS + run_of, minlength=len(present) * _RUNS).reshape(-1, _RUNS)
    needed, column = np.unique(columns, return_inverse=True)
    weights = weights[np.ix_(present, needed)]
    below = np.zeros((_RUNS + 1, len(needed)))
    np.cumsum(held.T.astype(np.float64) @ weights, axis=0, out=below[1:])
    runs = (below[1:, column] <= positions).sum(axis=0)
    result = np.empty(len(positions))
    for run in np.unique(runs):
        in_run = np.flatnonzero(runs == run)
        window = slice(edges[run], edges[run + 1])
        before = below[run, column[in_run]]
        result[in_run] = _at(values[window], group[window], weights, column[in_run], positions[in_run] - before)
    return result
