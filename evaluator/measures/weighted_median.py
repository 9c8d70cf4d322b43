"""Weighted medians of a ragged column under many resamples at once."""

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.outcomes.weighted import Sample

Places = npt.NDArray[np.int64]
_RUNS = 64


def weighted_medians(sample: Sample, column: str) -> Numbers:
    """The median of the column's values in the sample, each counted as often as its group was drawn, one a resample.

    Between the two middle values of an even number: their mean. NaN where nothing was drawn.
    """
    lengths = sample.view.outcomes.ragged[column]
    here = sample.view.row_mask[lengths.rows]
    values = lengths.values[here]
    if not len(values):
        return np.full(sample.n_resamples, np.nan)
    order = np.argsort(values, kind="stable")
    groups = sample.view.outcomes.groups[lengths.rows[here][order]].astype(np.int64)
    total = np.bincount(groups, minlength=sample.view.outcomes.n_groups) @ sample.weights
    drawn = np.flatnonzero(total > 0)
    # The one or two middle places, counted from 0, of each resample.
    places = np.concatenate([(total[drawn] - 1) // 2, total[drawn] // 2])
    columns = np.concatenate([drawn, drawn])
    medians = np.full(sample.n_resamples, np.nan)
    medians[drawn] = _at(values[order], groups, sample.weights, columns, places).reshape(2, -1).mean(axis=0)
    return medians


def _at(values: Numbers, groups: Places, weights: Numbers, columns: Places, places: Numbers) -> Numbers:
    """The value at each place when value i is repeated weights[groups[i], column] times.

    values: ascending. They are cut into runs; only the runs that hold some place are looked into, and cut again.
    """
    if len(values) <= _RUNS:
        reached = np.cumsum(weights[groups][:, columns], axis=0)
        found: Numbers = values[(reached <= places).sum(axis=0)]
        return found
    edges = np.linspace(0, len(values), _RUNS + 1).astype(np.int64)
    present, group = np.unique(groups, return_inverse=True)
    run_of = np.repeat(np.arange(_RUNS), np.diff(edges))
    held = np.bincount(group * _RUNS + run_of, minlength=len(present) * _RUNS).reshape(-1, _RUNS)
    needed, column = np.unique(columns, return_inverse=True)
    weights = weights[np.ix_(present, needed)]
    below = np.zeros((_RUNS + 1, len(needed)))
    np.cumsum(held.T.astype(np.float64) @ weights, axis=0, out=below[1:])
    runs = (below[1:, column] <= places).sum(axis=0)
    result = np.empty(len(places))
    for run in np.unique(runs):
        mine = np.flatnonzero(runs == run)
        inside = slice(edges[run], edges[run + 1])
        before = below[run, column[mine]]
        result[mine] = _at(values[inside], group[inside], weights, column[mine], places[mine] - before)
    return result
