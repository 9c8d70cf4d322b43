"""Page of rank agreement plots: ranks by each metric (system) against ranks by human ratings, overall or on a slice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, Row, ShownScore, Slice, by_primary, in_order
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.plots import Column, Grid, known, plots_of, runs_with_plots_of, shows_plots
from leaderboard.boards.queries.slices import parse_url_text, url_text
from leaderboard.boards.web import csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.plot_links import as_json, spearman_measure

MOST = 24
"""Maximum number of plots on the page, those of the best systems; the CSV has all systems."""
HEADS = ("system", "team", "slice", "metric_bins", "human_bin", "n_bins", "n")


@dataclass(frozen=True)
class Square:
    """One system's rank histogram, as a table."""

    row: Row
    score: ShownScore
    grid: Grid

    @property
    def heads(self) -> list[str]:
        """Headings of the columns: the bins of the metric's ranking that each column covers, such as `1` or `2-4`."""
        return [_bins(column) for column in self.grid.columns]

    @property
    def table(self) -> list[tuple[int, list[int]]]:
        """Rows of the table: (bin of human ratings, 1 for the lowest; counts by column), the highest bin first."""
        bins = range(self.grid.n_bins - 1, -1, -1)
        return [(index + 1, [column.counts[index] for column in self.grid.columns]) for index in bins]


def _bins(column: Column) -> str:
    first, last = column.start + 1, column.end
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


@require_safe
@conditional_page
def agreement(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the plots; raise Http404 if the board has no Spearman measure.

    `?slice=`: the slice as JSON, `["dimension", "value"]`. `?download=csv`: return the numbers.
    """
    slice_ = parse_url_text(request.GET.get("slice"))
    board = board_or_404(request.user, slug, phase, within=[name for name, _ in slice_], **version)
    is_download = request.GET.get("download") == "csv"
    grids = agreement_grids(board, slice_, most=None if is_download else MOST)
    slice_, plots = grids.slice, [Square(*grid) for grid in grids.grids]
    if is_download:
        return csv_download.as_csv(board, "agreement", HEADS, _table(plots, slice_))
    context = {
        "squares": plots,
        "measure": grids.measure,
        "slice": slice_,
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "shows_plots": shows_plots(board),
        "json": as_json(board),
        "rows": board.rows,
        "slices": [
            (name, [(url_text(((name, value),)), value) for value in values])
            for name, values in board.dimensions.items()
            if any(((name, value),) in grids.slices for value in values)
        ],
        "chosen_slice": url_text(slice_),
        "before": [row for row in by_primary(board) if row.run_id not in grids.runs_with_plots],
        "n_more": max(0, grids.n_plotted - MOST),
    }
    return render(request, "boards/rank_agreement.html", context)


@dataclass(frozen=True)
class Grids:
    """The rank histograms of a board on a slice.

    slices: slices on which some system has a histogram. n_plotted: number of systems with plot data, shown or not.
    """

    measure: Measure
    slice: Slice
    grids: Sequence[tuple[Row, ShownScore, Grid]]
    slices: Collection[Slice]
    runs_with_plots: Collection[UUID]
    n_plotted: int


def agreement_grids(board: Board, slice_: Slice, *, most: int | None = MOST) -> Grids:
    """Return the rank histograms on a slice, the best systems first; overall, if the slice is unknown.

    most: maximum number of systems; None: all. Raises Http404 if the board has no Spearman measure.
    """
    measure = spearman_measure(board)
    if measure is None:
        raise Http404("this board has no Spearman correlation with human ratings")
    slice_ = known(board, slice_)
    rows = in_order(board.rows, lambda row: row.score(measure.name, slice_).value, descending=True)
    runs_with_plots = runs_with_plots_of(board)
    plotted_rows = [row for row in rows if row.run_id in runs_with_plots]
    plot_data = plots_of(board, plotted_rows[:most])
    return Grids(
        measure=measure,
        slice=slice_,
        grids=[
            (row, row.score(measure.name, slice_), plot_data[row.run_id].grids[slice_])
            for row in plotted_rows
            if row.run_id in plot_data and slice_ in plot_data[row.run_id].grids
        ],
        slices={slice_ for data in plot_data.values() for slice_ in data.grids},
        runs_with_plots=runs_with_plots,
        n_plotted=len(plotted_rows),
    )


def _table(plots: Sequence[Square], slice_: Slice) -> list[Sequence[object]]:
    slice_text = "all" if slice_ == WHOLE else "=".join(slice_[0])
    return [
        (square.row.system, square.row.team, slice_text, *bins, n)
        for square in plots
        for column in square.grid.columns
        for i, n in enumerate(column.counts, start=1)
        for bins in [(f"{column.start + 1} to {column.end}", i, square.grid.n_bins)]
    ]
