"""Validate the plot data in a scorer's report: shapes, bounds and sizes."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from evaluator.plots.rank_histogram import MAX_BINS, MIN_BINS, Column
from evaluator.plots.roc import LEAST_STEPS, MOST_STEPS
from evaluator.plots.summary import MOST_SLICES, PlotData


def problem(data: PlotData) -> str:
    """Return a description of invalid plot data; empty if the data are valid."""
    for kind, parts in (("curves", data.curves or []), ("grids", data.grids or [])):
        if len(parts) > MOST_SLICES + 1:
            return f"the plot data have more than {MOST_SLICES + 1} {kind}"
        if any(len(part.slice) > 1 for part in parts):
            return "the plot data have a slice with several dimensions"
        if len({msgspec.json.encode(part.slice) for part in parts}) < len(parts):
            return f"the plot data have {kind} twice for one slice"
    if not all(_is_curve(curve.heights) for curve in data.curves or []):
        return "a curve of the plot data does not rise in steps to its corner"
    if not all(_is_grid(grid.columns) for grid in data.grids or []):
        return "a grid of the plot data has columns that are not adjacent"
    if data.pairs and min(msgspec.structs.astuple(data.pairs)) < 0:
        return "the plot data have a negative number of pairs"
    return ""


def _is_curve(heights: list[int]) -> bool:
    steps = len(heights) - 1
    if not LEAST_STEPS <= steps <= MOST_STEPS:
        return False
    return heights[0] >= 0 and heights[-1] == steps and all(low <= high for low, high in pairwise(heights))


def _is_grid(columns: list[Column]) -> bool:
    n_parts = columns[-1].end if columns else 0
    if not MIN_BINS <= n_parts <= MAX_BINS or len(columns) < 2:
        return False
    ends = [0, *(column.end for column in columns)]
    is_contiguous = all(column.start == end < column.end for column, end in zip(columns, ends, strict=False))
    return is_contiguous and all(len(column.counts) == n_parts and min(column.counts) >= 0 for column in columns)
