"""Revealed plot data for charts and the API, read from stored `ReleasePlot` rows only, never from outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leaderboard.boards.disclosure.policies import reveals_plots
from leaderboard.boards.queries import WHOLE, Board, Row, Slice, slice_of
from leaderboard.models import ReleasePlot


@dataclass(frozen=True)
class Curve:
    """A ROC curve: at the false positive rate k / steps, the true positive rate is heights[k] / steps."""

    heights: Sequence[int]

    @property
    def steps(self) -> int:
        return len(self.heights) - 1

    @property
    def points(self) -> list[tuple[float, float]]:
        """The curve's vertices as (false positive rate, true positive rate), from left to right, starting at (0, 0)."""
        pairs = [(index / self.steps, height / self.steps) for index, height in enumerate(self.heights)]
        return pairs if self.heights[0] == 0 else [(0.0, 0.0), *pairs]

    def at(self, across: float) -> float:
        """Return the true positive rate at the false positive rate `across`, interpolated linearly between points."""
        index = min(int(across * self.steps + 1e-9), self.steps - 1)
        low, high = self.heights[index], self.heights[index + 1]
        return (low + (high - low) * (across * self.steps - index)) / self.steps


@dataclass(frozen=True)
class Column:
    """Column of a rank histogram: the units that the system (a metric) ranks in bins `start` (from 0) to `end` - 1.

    counts: number of these units in each bin of the ranking by human ratings. In both rankings bin 0 has the lowest
    scores.
    """

    start: int
    end: int
    counts: Sequence[int]


@dataclass(frozen=True)
class Grid:
    """Two-dimensional histogram of ranks by a metric (the system) against ranks by human ratings, n_bins bins each."""

    columns: Sequence[Column]

    @property
    def n_bins(self) -> int:
        return self.columns[-1].end

    @property
    def n(self) -> int:
        return sum(sum(column.counts) for column in self.columns)


@dataclass(frozen=True)
class Pairs:
    """Numbers of pairs of an original and a generated claim of one group (see evaluator.plots.contrast_pairs).

    both: both claims right; drop: only the original right; flip: only the generated claim right; neither: both wrong.
    """

    both: int
    drop: int
    flip: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.drop + self.flip + self.neither


@dataclass(frozen=True)
class ShownPlot:
    """Revealed plot data of one run; curves and grids are by slice. pairs None: the gold is not a symmetric set."""

    curves: Mapping[Slice, Curve]
    grids: Mapping[Slice, Grid]
    pairs: Pairs | None


def shows_plots(board: Board) -> bool:
    """Return True if the phase's current policy reveals plot data; a stricter policy hides what was shown before."""
    return board.leaderboard is not None and reveals_plots(board.phase)


def plots_of(board: Board, rows: Iterable[Row]) -> dict[UUID, ShownPlot]:
    """Return the revealed plot data of these rows, by run id; runs without stored plot data are missing."""
    if not shows_plots(board):
        return {}
    runs = [row.run_id for row in rows if row.run_id is not None]
    contents = ReleasePlot.objects.filter(release__run__in=runs).values_list("release__run", "content")
    return {run: plot_of(content) for run, content in contents}


def runs_with_plots_of(board: Board) -> Collection[UUID]:
    """Return the ids of those runs of a board's rows that have revealed plot data."""
    if not shows_plots(board):
        return ()
    runs = [row.run_id for row in board.rows if row.run_id is not None]
    return set(ReleasePlot.objects.filter(release__run__in=runs).values_list("release__run", flat=True))


def plot_of(content: Mapping[str, Any]) -> ShownPlot:
    """Return the plot data in `content`, the JSON of a `ReleasePlot`."""
    return ShownPlot(
        curves={slice_of(curve["slice"]): Curve(curve["heights"]) for curve in content.get("curves", [])},
        grids={
            slice_of(grid["slice"]): Grid([Column(**column) for column in grid["columns"]])
            for grid in content.get("grids", [])
        },
        pairs=Pairs(**content["pairs"]) if "pairs" in content else None,
    )


def known(board: Board, slice_: Slice) -> Slice:
    """Return the slice if the board's gold has it, else WHOLE, the slice of all units."""
    return slice_ if all(value in board.dimensions.get(name, ()) for name, value in slice_) else WHOLE
