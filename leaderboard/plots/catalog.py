"""The plots of a board by name, each with the function that makes its specification for a request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpRequest, QueryDict

from leaderboard.boards.queries import Board, Slice, page_of, parse
from leaderboard.boards.queries.board import crossed_by
from leaderboard.boards.queries.lookup import board_or_404, head_or_404, phase_or_404
from leaderboard.boards.queries.slices import parse_url_text
from leaderboard.boards.web.charts.matrix import grid_of, matrices
from leaderboard.boards.web.pages.contrast_pairs import are_whole, pairs_by_system
from leaderboard.boards.web.pages.cost import costed_systems
from leaderboard.boards.web.pages.progress import best_so_far, plotted_levels, reference_levels
from leaderboard.boards.web.pages.rank_agreement import agreement_grids
from leaderboard.boards.web.pages.roc import chosen_curves
from leaderboard.boards.web.plot_links import is_symmetric
from leaderboard.boards.web.tables import cost_columns
from leaderboard.boards.web.tables.heat_rows import on_scale
from leaderboard.boards.web.tables.sorting import Key, Sorting, by_name
from leaderboard.comparisons.queries.pairs import ranked_pairs
from leaderboard.comparisons.web.critical_difference import differences_of
from leaderboard.plots.specs.contrast_pairs import contrast_pairs
from leaderboard.plots.specs.cost import cost
from leaderboard.plots.specs.intervals import intervals
from leaderboard.plots.specs.matrices import matrices as matrices_plot
from leaderboard.plots.specs.progress import progress
from leaderboard.plots.specs.rank_agreement import rank_agreement
from leaderboard.plots.specs.roc import roc
from leaderboard.plots.specs.significance import significance
from leaderboard.plots.specs.symmetric import symmetric
from leaderboard.plots.vega_lite import Spec


@dataclass(frozen=True)
class PlotRequest:
    """A reader's request for a plot: a board, and options of the plot.

    user: sees the names of anonymous systems if permitted; None: the public. version: gold and task version, as keyword
    arguments of `board_or_404`; empty: the current board. params: the query parameters of the plot's page.
    """

    user: Any
    slug: str
    phase: str
    version: Mapping[str, Any] = field(default_factory=dict)
    params: QueryDict = field(default_factory=QueryDict)

    @property
    def slice(self) -> Slice:
        return parse_url_text(self.params.get("slice"))

    def board(self, within: Collection[str] | None = ()) -> Board:
        return board_or_404(self.user, self.slug, self.phase, within=within, **self.version)


def _intervals(request: PlotRequest) -> Spec | None:
    params = {name: str(value) for name, value in request.params.items()}
    board = head_or_404(request.user, request.slug, request.phase, as_of=params.get("as_of", ""), **request.version)
    query = parse(board, params)
    return intervals(page_of(board, query, viewer=request.user).board, query.slice_)


def _symmetric(request: PlotRequest) -> Spec | None:
    board = request.board(["origin"])
    return symmetric(board) if is_symmetric(board) else None


def _contrast_pairs(request: PlotRequest) -> Spec | None:
    board = request.board()
    if not is_symmetric(board):
        return None
    by_system = pairs_by_system(board)
    rows = [(row, by_system[row.system_id]) for row in board.rows if row.system_id in by_system]
    rows.sort(key=lambda entry: -entry[1].both / entry[1].n)
    return contrast_pairs(board, rows, are_whole=are_whole(board, by_system))


def _progress(request: PlotRequest) -> Spec | None:
    board = request.board()
    return progress(board, best_so_far(board), plotted_levels(reference_levels(board)))


def _roc(request: PlotRequest) -> Spec | None:
    slice_ = request.slice
    board = request.board([name for name, _ in slice_])
    curves = chosen_curves(board, request.params.getlist("system"), slice_)
    return roc(board, curves.curves, curves.measure.title)


def _agreement(request: PlotRequest) -> Spec | None:
    slice_ = request.slice
    board = request.board([name for name, _ in slice_])
    grids = agreement_grids(board, slice_)
    return rank_agreement(board, grids.grids, grids.measure.name)


def _cost(request: PlotRequest) -> Spec | None:
    board = request.board()
    columns = cost_columns.columns(board)
    if not columns:
        return None
    column = cost_columns.chosen(columns, request.params.get("cost"))
    return cost(board, costed_systems(board, column.kind), column)


def _matrices(request: PlotRequest) -> Spec | None:
    crossed = crossed_by(phase_or_404(request.user, request.slug, request.phase))
    board = request.board(crossed) if crossed else None
    if board is None or board.crossed is None:
        return None
    offered = board.measures_on(board.crossed)
    measure = next(
        (known for known in offered if known.name == request.params.get("measure")), next(iter(offered), None)
    )
    if measure is None:
        return None
    page = HttpRequest()
    page.GET = request.params  # type: ignore[assignment]
    slices = [entry.source.slice for entry in grid_of(board, board.crossed, measure).entries]
    grid = grid_of(board, board.crossed, on_scale(page, measure, board.rows, slices))
    keys = {entry.key: entry.source.key for entry in grid.entries} | {"system": Key(by_name, best_first=False)}
    rows = Sorting.from_request(page, keys, grid.whole.key).apply(board.rows)
    return matrices_plot(grid, matrices(grid, rows), measure)


def _significance(request: PlotRequest) -> Spec | None:
    board = request.board()
    return significance(board, *differences_of(board, ranked_pairs(board)))


PLOTS: dict[str, Callable[[PlotRequest], Spec | None]] = {
    "intervals": _intervals,
    "symmetric": _symmetric,
    "pairs": _contrast_pairs,
    "roc": _roc,
    "agreement": _agreement,
    "cost": _cost,
    "progress": _progress,
    "significance": _significance,
    "matrices": _matrices,
}


def spec_or_404(name: str, request: PlotRequest) -> Spec:
    """Return the Vega-Lite specification of a plot.

    Raises Http404 if there is no such plot, if it has nothing to show, or if the user may not see the phase; raises
    InvalidQuery for an invalid parameter.
    """
    if name not in PLOTS:
        raise Http404(f"no plot {name!r}, expected one of {', '.join(PLOTS)}")
    spec = PLOTS[name](request)
    if spec is None:
        raise Http404(f"the plot {name!r} has nothing to show on this board")
    return spec
