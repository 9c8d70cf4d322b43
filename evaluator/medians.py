"""Weighted medians of a ragged column under many resamples at once."""

import numpy as np

from evaluator.outcomes import Numbers
from evaluator.samples import Sample

_COARSE = 64


def weighted_medians(sample: Sample, column: str) -> Numbers:
    """The median of the column's values in the sample, each counted as often as its group was drawn, one a resample.

    Between the two middle values of an even number: their mean. NaN where nothing was drawn.
    The values are cut into coarse runs first; only the runs that hold some resample's middle are looked into.
    """
    lengths = sample.view.outcomes.ragged[column]
    here = sample.view.row_mask[lengths.rows]
    values = lengths.values[here]
    if not len(values):
        return np.full(sample.n_resamples, np.nan)
    order = np.argsort(values, kind="stable")
    values = values[order]
    groups = sample.view.outcomes.groups[lengths.rows[here][order]]
    n_runs = min(_COARSE, len(values))
    edges = np.linspace(0, len(values), n_runs + 1).astype(np.int64)
    # groups x runs: how many values of a group lie in a run
    run_of = np.repeat(np.arange(n_runs), np.diff(edges))
    n_groups = sample.view.outcomes.n_groups
    held = np.bincount(groups * n_runs + run_of, minlength=n_groups * n_runs).reshape(n_groups, n_runs)
    below = np.zeros((n_runs + 1, sample.n_resamples))
    np.cumsum(held.T.astype(np.float64) @ sample.weights, axis=0, out=below[1:])
    total = below[-1]
    # The places of the one or two middle values, counted from 0.
    first = np.floor((total - 1) / 2)
    second = np.floor(total / 2)
    medians = np.full(sample.n_resamples, np.nan)
    drawn = total > 0
    medians[drawn] = 0.0
    for place in (first, second):
        runs = (below[1:] <= place).sum(axis=0)  # the run that holds the place
        for run in np.unique(runs[drawn]):
            mine = np.flatnonzero(drawn & (runs == run))
            inside = slice(edges[run], edges[run + 1])
            reached = below[run, mine] + np.cumsum(sample.weights[groups[inside]][:, mine], axis=0)
            index = (reached <= place[mine]).sum(axis=0)
            medians[mine] += values[inside][index] / 2
    return medians
