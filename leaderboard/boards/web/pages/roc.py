"""Page of the overlaid ROC curves of a board's systems, overall or on one slice."""

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
from leaderboard.boards.queries import WHOLE, Board, Row, ShownScore, Slice, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.plots import Curve, known, plots_of, runs_with_plots_of, shows_plots
from leaderboard.boards.queries.slices import parse_url_text, url_text
from leaderboard.boards.web import csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.plot_links import as_json, auroc_measure

MOST = 8
"""Maximum number of curves: the number of distinct colours and dash patterns."""
READ_AT = (0.1, 0.2, 0.3, 0.5)
"""False positive rates at which the table shows the true positive rate."""
FIRST = 5
"""Number of curves plotted if the query string names no system."""
HEADS = ("system", "team", "slice", "false_positive_rate", "true_positive_rate")


@dataclass(frozen=True)
class Line:
    """One system's curve. score: its AUROC on the slice."""

    row: Row
    score: ShownScore
    curve: Curve

    @property
    def read(self) -> list[float]:
        """The curve's true positive rates at the false positive rates READ_AT."""
        return [self.curve.at(across) for across in READ_AT]


@dataclass(frozen=True)
class Choice:
    """A system's checkbox. is_chosen: it is selected. is_plotted: it has plot data. key: its value in `?system=`."""

    row: Row
    is_chosen: bool
    is_plotted: bool

    @property
    def key(self) -> str:
        return str(self.row.system_id)


@require_safe
@conditional_page
def roc(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the curves; raise Http404 if the board has no AUROC measure.

    `?system=`: id of a system, up to MOST times; default: the best FIRST systems. `?slice=`: the slice as JSON,
    `["dimension", "value"]`. `?download=csv`: return the points of the curves.
    """
    slice_ = parse_url_text(request.GET.get("slice"))
    board = board_or_404(request.user, slug, phase, within=[name for name, _ in slice_], **version)
    curves = chosen_curves(board, request.GET.getlist("system"), slice_)
    slice_ = curves.slice
    lines = [Line(*curve) for curve in curves.curves]
    if request.GET.get("download") == "csv":
        return csv_download.as_csv(board, "roc", HEADS, _table(lines, slice_))
    rows = by_primary(board)
    context = {
        "lines": lines,
        "measure": curves.measure,
        "slice": slice_,
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "shows_plots": shows_plots(board),
        "json": as_json(board),
        "rows": rows,
        "choices": [Choice(row, row in curves.chosen, row.run_id in curves.runs_with_plots) for row in rows],
        "slices": _slices(board, curves.slices),
        "chosen_slice": url_text(slice_),
        "without": [row for row in curves.chosen if row.run_id not in {line.row.run_id for line in lines}],
        "before": [row for row in rows if row.run_id not in curves.runs_with_plots],
        "n_too_many": curves.n_too_many,
        "most": MOST,
        "read_at": READ_AT,
    }
    return render(request, "boards/roc.html", context)


@dataclass(frozen=True)
class Curves:
    """The curves that a request selects.

    chosen: the selected systems, with or without a curve on the slice. slices: slices on which a selected system has a
    curve. n_too_many: number of requested systems beyond MOST.
    """

    measure: Measure
    slice: Slice
    curves: Sequence[tuple[Row, ShownScore, Curve]]
    chosen: Sequence[Row]
    slices: Sequence[Slice]
    runs_with_plots: Collection[UUID]
    n_too_many: int


def chosen_curves(board: Board, systems: Sequence[str], slice_: Slice) -> Curves:
    """Return the curves of systems on a slice, the largest area first.

    systems: ids, of which the best MOST count; empty: the best FIRST systems. For an unknown slice the curves are those
    on all units. Raises Http404 for an unknown system, and if the board has no AUROC measure.
    """
    measure = auroc_measure(board)
    if measure is None:
        raise Http404("this board has no AUROC measure, so there are no ROC curves")
    slice_ = known(board, slice_)
    runs_with_plots = runs_with_plots_of(board)
    rows = by_primary(board)
    requested = _requested_rows(systems, rows)
    chosen = requested[:MOST] if requested else [row for row in rows if row.run_id in runs_with_plots][:FIRST]
    plot_data = plots_of(board, chosen)
    curves = [
        (row, row.score(measure.name, slice_), plot_data[row.run_id].curves[slice_])
        for row in chosen
        if row.run_id in plot_data and slice_ in plot_data[row.run_id].curves
    ]
    return Curves(
        measure=measure,
        slice=slice_,
        curves=sorted(curves, key=lambda curve: -(curve[1].value or 0.0)),
        chosen=chosen,
        slices=[slice_ for data in plot_data.values() for slice_ in data.curves],
        runs_with_plots=runs_with_plots,
        n_too_many=max(0, len(requested) - MOST),
    )


def _requested_rows(systems: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """Return the rows of these systems, best first; raise Http404 for an unknown system."""
    matches = [row for row in rows if str(row.system_id) in systems]
    if len(matches) < len(set(systems)):
        raise Http404("no such system on this board")
    return matches


def _slices(board: Board, plotted: Sequence[Slice]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (dimension, options) for the choice of a slice; an option is (value of `?slice=`, dimension's value).

    plotted: the slices on which a chosen system has a curve.
    """
    by_dimension = []
    for name, values in board.dimensions.items():
        curved = [(url_text(((name, value),)), value) for value in values if ((name, value),) in plotted]
        if curved:
            by_dimension.append((name, curved))
    return by_dimension


def _table(lines: Sequence[Line], slice_: Slice) -> list[Sequence[object]]:
    slice_text = "all" if slice_ == WHOLE else "=".join(slice_[0])
    return [
        (line.row.system, line.row.team, slice_text, round(x, 4), round(y, 4))
        for line in lines
        for x, y in line.curve.points
    ]
