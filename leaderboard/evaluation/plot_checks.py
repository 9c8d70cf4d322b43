"""Validation of the plot data (ROC curves, rank histograms, pair counts) in a scorer's report."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from evaluator.plots.rank_histogram import MAX_BINS, MIN_BINS, Column
from evaluator.plots.roc import LEAST_STEPS, MOST_STEPS
from evaluator.plots.summary import MOST_SLICES, PlotData


def problem(data: PlotData) -> str:
    """Return a description of the first problem of the plot data: a wrong shape, bound or size; empty if valid."""
    for kind, parts in (("ROC curves", data.curves or []), ("rank histograms", data.grids or [])):
        if len(parts) > MOST_SLICES + 1:
            return f"the plot data have {len(parts)} {kind}, expected at most {MOST_SLICES + 1}"
        if any(len(part.slice) > 1 for part in parts):
            return f"the plot data have {kind} for a slice with several dimensions, expected at most one dimension"
        if len({msgspec.json.encode(part.slice) for part in parts}) < len(parts):
            return f"the plot data have two {kind} for one slice, expected one"
    if not all(_is_curve(curve.heights) for curve in data.curves or []):
        return (
            f"a ROC curve of the plot data is invalid, expected {LEAST_STEPS + 1} to {MOST_STEPS + 1} heights, the "
            "first at least 0, each at least the one before, and the last equal to the number of heights minus one"
        )
    if not all(_is_grid(grid.columns) for grid in data.grids or []):
        return (
            f"a rank histogram of the plot data is invalid, expected two or more adjacent columns over {MIN_BINS} to "
            f"{MAX_BINS} bins, each with one non-negative count per bin"
        )
    if data.pairs and min(msgspec.structs.astuple(data.pairs)) < 0:
        return "the plot data have a negative number of pairs, expected 0 or more"
    return ""


def _is_curve(heights: list[int]) -> bool:
    steps = len(heights) - 1
    if not LEAST_STEPS <= steps <= MOST_STEPS:
        return False
    return heights[0] >= 0 and heights[-1] == steps and all(low <= high for low, high in pairwise(heights))


def _is_grid(columns: list[Column]) -> bool:
    n_bins = columns[-1].end if columns else 0
    if not MIN_BINS <= n_bins <= MAX_BINS or len(columns) < 2:
        return False
    ends = [0, *(column.end for column in columns)]
    is_contiguous = all(column.start == end < column.end for column, end in zip(columns, ends, strict=False))
    return is_contiguous and all(len(column.counts) == n_bins and min(column.counts) >= 0 for column in columns)
